"""Start the reference Company of the PyPI package `personal-agent-protocol` on this machine, for Poppyfield's Agents.

The Company ("Manzanita Outfitters") is the package's own, unchanged: its rules, its answers and its counts of performed
operations. What this file adds is what surrounds a Company in a test: a certificate that lasts over restarts, a clock in
real time, two Personal Agents that it knows, and a second port at which a run plays the Company's people and its Users.

    interop/venv/bin/python interop/launch.py --state interop/state

`--help` lists the options. It listens on loopback addresses only, and ends by itself after `--for` seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ipaddress
import json
import logging
import os
import random
import signal
import socket
import sys
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

try:
    import uvicorn
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
    from personal_agent_protocol.company import MemoryCompanyStore, build_company, company_app
    from personal_agent_protocol.demo import manzanita
    from personal_agent_protocol.demo.kit import (
        AgentIdentity,
        ClockPlugin,
        InProcessNetwork,
        StorePlugin,
        json_site,
    )
    from personal_agent_protocol.models import OperationResult
    from reactor import PluginManifest
except ImportError as missing:
    sys.exit(f"launch.py: {missing}. Run interop/setup.sh, then interop/venv/bin/python interop/launch.py")

LOG = logging.getLogger("launch")
COMPANY = manzanita.DOMAIN
#: The Personal Agents that the Company knows: the second lists no extension.
AGENTS = (("atlas.example", "Atlas", ("operations",)), ("plain.example", "Plain", ()))
CERTIFICATE_LIFE = timedelta(days=7)


class Refused(Exception):
    """A request at the control port that cannot be met: its status and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


# Certificates and keys -----------------------------------------------------------------------------------------------


def write_whole(path: Path, data: bytes, *, secret: bool = False) -> None:
    """Write a file so that nobody ever reads half of it."""
    half = path.with_name(path.name + ".part")
    half.unlink(missing_ok=True)
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    half.replace(path)


def pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def still_good(state: Path, names: list[str], until: datetime) -> bool:
    """Whether the folder's certificate covers every name until then, with its CA and its key."""
    try:
        ca = x509.load_pem_x509_certificate((state / "ca.pem").read_bytes())
        leaf = x509.load_pem_x509_certificate((state / "cert.pem").read_bytes())
        key = serialization.load_pem_private_key((state / "key.pem").read_bytes(), password=None)
        leaf.verify_directly_issued_by(ca)
        covered = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except Exception as why:  # whatever is wrong with the old files, new ones are made
        LOG.info("a new certificate: %s", why)
        return False
    return (
        leaf.public_key() == key.public_key()
        and set(names) <= set(covered.get_values_for_type(x509.DNSName))
        and until < min(ca.not_valid_after_utc, leaf.not_valid_after_utc)
    )


def make_certificates(state: Path, names: list[str]) -> None:
    """A CA made for this folder, whose key is thrown away, and one certificate for every name."""
    now = datetime.now(timezone.utc)

    def certificate(subject: str, issuer: str, public: Any) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + CERTIFICATE_LIFE)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        )

    ca_key, leaf_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name = f"Poppyfield interop CA {now:%Y-%m-%d %H:%M:%S}"
    usage = dict.fromkeys(
        ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
         "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
        False,
    )  # fmt: skip
    ca = (
        certificate(ca_name, ca_name, ca_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**{**usage, "key_cert_sign": True, "crl_sign": True}), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    leaf = (
        certificate(names[0], ca_name, leaf_key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    write_whole(state / "key.pem", pem(leaf_key), secret=True)
    write_whole(state / "cert.pem", leaf.public_bytes(serialization.Encoding.PEM))
    write_whole(state / "ca.pem", ca.public_bytes(serialization.Encoding.PEM))


def known_agents(state: Path) -> list[AgentIdentity]:
    """The Agents that the Company knows, with the keys that the folder has; their documents are written beside."""
    found = []
    for domain, name, extensions in AGENTS:
        path = state / f"agent-{domain}.pem"
        if path.exists():
            key = serialization.load_pem_private_key(path.read_bytes(), password=None)
            if not isinstance(key, ec.EllipticCurvePrivateKey):
                sys.exit(f"launch.py: {path} is no EC key; remove it and a new one is made")
        else:
            key = ec.generate_private_key(ec.SECP256R1())
            write_whole(path, pem(key), secret=True)
        agent = AgentIdentity(domain=domain, name=name, extensions=extensions, private_key=key)
        document = {"client_id": agent.client_id, "kid": agent.kid, "metadata": agent.metadata, "jwks": agent.jwks}
        write_whole(state / f"agent-{domain}.json", json.dumps(document, indent=1).encode())
        found.append(agent)
    return found


# The Company ---------------------------------------------------------------------------------------------------------


class Clock:
    """Real time, which the control port can move ahead."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(timezone.utc) + self.ahead


class Slow:
    """The package's executor of one action, which begins so many seconds late."""

    def __init__(self, inner: Any, seconds: float) -> None:
        self.inner, self.action, self.seconds = inner, inner.action, seconds

    @property
    def performed(self) -> list[str]:
        return self.inner.performed

    async def perform(self, operation: Any, account_id: str) -> Any:
        await asyncio.sleep(self.seconds)
        return await self.inner.perform(operation, account_id)


class Company:
    """The package's Company, as it is between two restarts, and what outlives them: clock, store, counts, Agents."""

    def __init__(self, options: argparse.Namespace, agents: list[AgentIdentity]) -> None:
        self.options = options
        self.clock = Clock()
        self.network = InProcessNetwork()
        for agent in agents:
            self.network.add(agent.domain, agent.website())
        self.plugin = manzanita.ManzanitaPlugin()
        if options.delay:
            for name in ("executor", "gift_wrap", "returns", "repairs"):
                setattr(self.plugin, name, Slow(getattr(self.plugin, name), options.delay))
        self.store = MemoryCompanyStore(self.clock)
        self.build()

    def build(self, *, forget: bool = False) -> None:
        """Put the Company together, over the store it had or (`forget`) over an empty one."""
        if forget:
            self.store = MemoryCompanyStore(self.clock)
        settings = {
            **manzanita.CONFIG.__dict__,
            "dpop_nonce": self.options.nonce,
            "operation_lifetime": timedelta(seconds=self.options.operation_seconds),
            "device_interval": self.options.device_interval,
        }
        if self.options.nonce_seconds is not None:
            settings["dpop_nonce_lifetime"] = timedelta(seconds=self.options.nonce_seconds)
        self.service = build_company(
            type(manzanita.CONFIG)(**settings),
            http_client=self.network.client(),
            address_resolver=self.network.resolve,
            plugins=[
                (PluginManifest(name="manzanita", version="1"), self.plugin),
                (PluginManifest(name="clock", version="1"), ClockPlugin(self.clock)),
                (PluginManifest(name="store", version="1"), StorePlugin(self.store)),
            ],
        )
        self.network.add(COMPANY, company_app(self.service))

    def performed(self) -> Counter[str]:
        """How often each operation was performed: the package's executors note each one as they perform it."""
        executors = (self.plugin.executor, self.plugin.gift_wrap, self.plugin.returns, self.plugin.repairs)
        return Counter(operation for executor in executors for operation in executor.performed)

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        """Route by `Host`, as one address with many names does."""
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1").rsplit(":", 1)[0].lower()
        target = self.network.apps.get(host)
        if target is None:
            await answer(send, 421, {"error": f"nobody here is called {host}"})
        elif host == COMPANY and random.random() < self.options.garbage:
            # Not the protocol's doing: what a broken proxy in front of a Company answers.
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
            await send({"type": "http.response.body", "body": b'{"operation": {"operation_id": \x00\xff'})
        else:
            await target(scope, receive, send)


# The control port ----------------------------------------------------------------------------------------------------


async def answer(send: Any, status: int, body: dict[str, Any]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


class Control:
    """What the Company's people and its Users do, as requests: `POST /name` with a JSON object."""

    def __init__(self, company: Company, launch: Launch) -> None:
        self.company, self.launch = company, launch
        self.acts = {
            "/approve-device": self.approve_device,
            "/deny-device": self.deny_device,
            "/revise": self.revise,
            "/settle": self.settle,
            "/performed": self.performed,
            "/disconnect": self.disconnect,
            "/advance": self.advance,
            "/agents": self.agents,
            "/restart": self.restart,
        }

    async def approve_device(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The User signs in to `account` on the Company's page and allows what was asked (or only `scopes`)."""
        granted = await self.company.service.approve_device(
            asked["user_code"], account_id=asked["account"], scopes=asked.get("scopes")
        )
        return {"granted": list(granted)}

    async def deny_device(self, asked: dict[str, Any]) -> dict[str, Any]:
        await self.company.service.deny_device(asked["user_code"])
        return {}

    async def revise(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The terms change: to those given, else to the same and a delivery date that differs from revision to revision."""
        summary, terms = asked.get("summary"), asked.get("terms")
        if summary is None or terms is None:
            now = (await self.company.service.operation_record(asked["operation_id"])).operation
            days = now.revision + 4
            base = now.summary.split(" Ships in ")[0]
            summary = summary or f"{base} Ships in {days} days."
            terms = terms or {**(now.terms or {}), "ships_in_days": days}
        new = await self.company.service.revise(asked["operation_id"], summary=summary, terms=terms)
        return {"operation": new.model_dump(mode="json")}

    async def settle(self, asked: dict[str, Any]) -> dict[str, Any]:
        """An operation in progress gets its outcome."""
        succeeded = asked.get("succeeded", True)
        summary = asked.get("summary") or (
            "The jacket came back repaired." if succeeded else "The carrier lost the jacket. Nothing was charged."
        )
        new = await self.company.service.settle(
            asked["operation_id"], OperationResult(summary=summary), succeeded=bool(succeeded)
        )
        return {"operation": new.model_dump(mode="json")}

    async def performed(self, asked: dict[str, Any]) -> dict[str, Any]:
        """How often one operation was performed, or how many performances of how many operations there were."""
        counts = self.company.performed()
        if "operation_id" in asked:
            operation = asked["operation_id"]
            if operation not in counts:  # whoever lost its records cannot say "never": then this is a KeyError
                await self.company.service.operation_record(operation)
            return {"performed": counts[operation]}
        more = {operation: times for operation, times in counts.items() if times > 1}
        return {"performed": sum(counts.values()), "operations": len(counts), "more_than_once": more}

    async def disconnect(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The User takes an Agent's access to an account away."""
        return {"revoked": await self.company.service.disconnect(asked["client_id"], asked["account"])}

    async def advance(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.company.clock.ahead += timedelta(seconds=float(asked["seconds"]))
        return {"now": self.company.clock.now().isoformat()}

    async def agents(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Publish one more Agent's client metadata and keys at its domain."""
        documents = {
            asked.get("path", "/agent.json"): asked["metadata"],
            asked.get("jwks_path", "/jwks.json"): asked["jwks"],
        }
        if asked["domain"] == COMPANY:
            raise Refused(409, f"{COMPANY} is the Company's own")
        self.company.network.add(asked["domain"], json_site(documents))
        return {"domains": sorted(self.company.network.apps)}

    async def restart(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The Company goes down for `down_seconds` and comes back, with its records or (`forget`) without."""
        seconds = float(asked.get("down_seconds", 1))
        if not 0 <= seconds <= 60:
            raise Refused(400, "down_seconds: from 0 to 60")
        await self.launch.restart(seconds, forget=bool(asked.get("forget")))
        return {"down_seconds": seconds}

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        try:
            act = self.acts.get(scope["path"])
            if act is None:
                raise Refused(404, "there is " + ", ".join(sorted(self.acts)))
            if scope["method"] != "POST":
                raise Refused(405, "POST a JSON object")
            asked = json.loads(body or b"{}")
            if not isinstance(asked, dict):
                raise Refused(400, "not a JSON object")
            status, said = 200, await act(asked)
        except Refused as refused:
            status, said = refused.status, {"error": str(refused)}
        except json.JSONDecodeError as error:
            status, said = 400, {"error": f"not JSON: {error}"}
        except KeyError as error:  # a member left out, or what the Company does not know
            status, said = 404, {"error": f"no {error}"}
        except (TypeError, ValueError) as error:  # what the Company does not do in this state
            status, said = 409, {"error": str(error)}
        LOG.debug("control %s: %s", scope["path"], status)
        await answer(send, status, said)


# Serving -------------------------------------------------------------------------------------------------------------


class Server(uvicorn.Server):
    """A server among others in one process: whoever started it takes the signals."""

    def capture_signals(self) -> Any:
        return contextlib.nullcontext()


def listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # or each answer waits for an acknowledgement
    try:
        listener.bind((host, port))
    except OSError as why:
        sys.exit(f"launch.py: {host}:{port}: {why.strerror}")
    return listener


class Launch:
    """Both servers, from start to stop."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.state: Path = options.state
        self.stop = asyncio.Event()
        self.serving: tuple[Server, asyncio.Task[None]] | None = None

    async def start(self, app: Any, listener: socket.socket, **tls: str) -> tuple[Server, asyncio.Task[None]]:
        """Serve, and come back once connections are accepted."""
        config = uvicorn.Config(
            app, interface="asgi3", http="h11", proxy_headers=False, log_level=self.options.log_level, access_log=self.options.log_level == "debug",
            lifespan="off", timeout_keep_alive=self.options.keep_alive, timeout_graceful_shutdown=1, **tls,
        )  # fmt: skip
        server = Server(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            if task.done():
                task.result()
                sys.exit("launch.py: a server ended before it began")
            await asyncio.sleep(0.01)
        return server, task

    async def serve_company(self, listener: socket.socket) -> None:
        self.serving = await self.start(
            self.company.app, listener,
            ssl_certfile=str(self.state / "cert.pem"), ssl_keyfile=str(self.state / "key.pem"),
        )  # fmt: skip

    async def end(self, serving: tuple[Server, asyncio.Task[None]] | None) -> None:
        """Stop one server: after a second, whatever still runs there is cut off."""
        if serving is not None:
            serving[0].should_exit = True
            await serving[1]

    async def restart(self, seconds: float, *, forget: bool) -> None:
        if self.serving is None:
            raise Refused(409, "a restart is under way")
        serving, self.serving = self.serving, None
        await self.end(serving)
        LOG.info("down for %s s", seconds)
        await asyncio.sleep(seconds)
        self.company.build(forget=forget)
        await self.serve_company(listen(self.options.host, self.port))
        LOG.info("up again")

    async def run(self) -> None:
        options, state = self.options, self.state
        state.mkdir(parents=True, exist_ok=True)
        ready = state / "ready.json"
        ready.unlink(missing_ok=True)
        names = [COMPANY, *(domain for domain, _, _ in AGENTS)]
        until = datetime.now(timezone.utc) + timedelta(seconds=options.for_seconds + 60)
        if options.new_ca or not still_good(state, names, until):
            make_certificates(state, names)
        self.company = Company(options, known_agents(state))
        listeners = listen(options.host, options.port), listen(options.host, options.control_port)
        self.port, control_port = (listener.getsockname()[1] for listener in listeners)
        await self.serve_company(listeners[0])
        control = await self.start(Control(self.company, self).app, listeners[1])

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop.set)
        loop.call_later(options.for_seconds, self.stop.set)
        address = f"[{options.host}]" if ":" in options.host else options.host
        told = {
            "company": COMPANY, "address": f"{address}:{self.port}", "control": f"http://{address}:{control_port}",
            "ca": str((state / "ca.pem").resolve()), "agents": [domain for domain, _, _ in AGENTS], "pid": os.getpid(),
        }  # fmt: skip
        write_whole(ready, json.dumps(told, indent=1).encode())
        print(f"{COMPANY} at {told['address']}, control at {told['control']}, for {options.for_seconds:g} s", flush=True)
        try:
            await self.stop.wait()
        finally:
            ready.unlink(missing_ok=True)
            await self.end(control)
            await self.end(self.serving)
            counts = self.company.performed()
            print(f"performed: {sum(counts.values())}, of {len(counts)} operations", flush=True)


def loopback(host: str) -> str:
    """A loopback address: the Company is a target for tests on this machine, and its control port asks no one's name."""
    host = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        if ipaddress.ip_address(host).is_loopback:
            return host
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{host} is no loopback address")


def number(at_least: float, at_most: float) -> Any:
    def parse(text: str) -> float:
        value = float(text)
        if not at_least <= value <= at_most:
            raise argparse.ArgumentTypeError(f"from {at_least:g} to {at_most:g}")
        return value

    return parse


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--host", type=loopback, default="127.0.0.1", help="a loopback address (127.0.0.1)")
    add("--port", type=int, default=18443, help="the Company's port; 0 takes any (18443)")
    add("--control-port", type=int, default=18444, help="the control port; 0 takes any (18444)")
    add("--state", type=Path, default=Path(__file__).parent / "state", help="where certificates, keys and ready.json are")
    add("--new-ca", action="store_true", help="make new certificates although there are good ones")
    add("--for", dest="for_seconds", type=number(1, 86400), default=3600, metavar="SECONDS", help="stop by itself (3600)")
    add("--delay", type=number(0, 600), default=0.0, metavar="SECONDS", help="every action takes so much longer (0)")
    add("--nonce", action="store_true", help="demand DPoP nonces")
    add("--nonce-seconds", type=number(1, 3600), metavar="SECONDS", help="how long a nonce is good for (300)")
    add("--operation-seconds", type=number(0.1, 86400), default=900, metavar="SECONDS", help="the life of an offer (900)")
    add("--device-interval", type=int, default=5, metavar="SECONDS", help="least time between polls of a sign-in (5)")
    add("--keep-alive", type=int, default=5, metavar="SECONDS", help="how long an idle connection is kept (5)")
    add("--garbage", type=number(0, 1), default=0.0, metavar="CHANCE", help="the share of answers that are no JSON (0)")
    add("--log-level", choices=("debug", "info", "warning", "error"), default="warning")
    return parser.parse_args()


if __name__ == "__main__":
    chosen = arguments()
    logging.basicConfig(level=chosen.log_level.upper(), format="%(asctime)s %(name)s %(message)s")

    async def launch() -> None:
        await Launch(chosen).run()

    asyncio.run(launch())
