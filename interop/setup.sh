#!/usr/bin/env bash
# A Python environment with the reference Company in it, at interop/venv (or at the folder given).
set -euo pipefail
cd "$(dirname "$0")"
venv=${1:-venv}
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
"$venv/bin/python" -c 'import personal_agent_protocol, uvicorn; print("personal-agent-protocol", "0.26.0", "is ready")'
