//! A target file: a Company that is not simulated.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::scenario::value::{At, ConnectText, Named, Share, Spread, Time};

use super::{Approvals, SessionModeWord, YesNo};

/// A Company that is not simulated: where it is, who the Agents are to it, and how its actions are proposed.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct TargetFile {
    /// Its name in action IDs and in the history. This key comes first: it says what kind of file this is.
    pub(in crate::scenario) target: At<String>,
    /// Its domain: the Agents begin at `https://DOMAIN/.well-known/poppy.json`.
    pub(in crate::scenario) domain: At<String>,
    /// Where to connect instead of what DNS says: an address with a port, or a map from hosts to such. Default: DNS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) connect_to: Option<ConnectText>,
    /// The file of the certificates (PEM) that it is trusted by, relative to this file's folder. Default: the Web's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) ca: Option<At<String>>,
    /// Which draft's Sessions it speaks. Default: the scenario's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) session_mode: Option<SessionModeWord>,
    /// How far its clock may be from ours. Default: 1s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) clock_error: Option<At<Time>>,
    /// The operator of Personal Agents that it already knows. Default: the run's own, whose documents it has to fetch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) operator: Option<OperatorSettings>,
    /// The port at which the first of the run's own operators serves its documents. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) operators_port: Option<At<u16>>,
    /// How Users sign in. Left out, they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) sign_in: Option<At<SignInSettings>>,
    /// How each action is proposed, by the name that journeys use; at least one.
    pub(in crate::scenario) actions: At<Named<TargetActionSettings>>,
    /// What its operator can be asked for, over HTTP beside the protocol. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) hooks: Option<HookSettings>,
    /// Anomalies that are known of it: listed, but failing no run. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) known: Option<Vec<At<String>>>,
}

/// An operator of Personal Agents that a target already knows.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct OperatorSettings {
    /// Its `client_id`.
    pub(in crate::scenario) client_id: At<String>,
    /// The file of its key (P-256, PKCS#8 in PEM), relative to this file's folder.
    pub(in crate::scenario) key: At<String>,
    /// The `kid` under which the key is published.
    pub(in crate::scenario) key_id: At<String>,
    /// Whether its client metadata lists the Operations extension. Default: yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) extension: Option<YesNo>,
}

/// How Users sign in, by the device grant.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct SignInSettings {
    /// The scopes asked for; at least one.
    pub(in crate::scenario) scopes: At<Vec<At<String>>>,
    /// The account of a User, with placeholders. Default: `{user}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) account: Option<At<String>>,
}

/// How an action is proposed.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct TargetActionSettings {
    /// Requests made before, whose answers give values. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) before: Option<At<Vec<At<PreparationSettings>>>>,
    /// The request that would perform the action, and is answered by an operation.
    pub(in crate::scenario) propose: At<RequestSettings>,
    /// The request for other terms of an open operation. Left out, nobody asks for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) change: Option<At<RequestSettings>>,
    /// The `resource` that its tokens have to name. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) resource: Option<At<String>>,
    /// Whose approval it accepts. Default: user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) approval: Option<Approvals>,
}

/// A type with a request among its fields: exactly one method with its URL, and a body.
macro_rules! with_request {
    ($(#[$doc:meta])* $name:ident { $($(#[$own_doc:meta])* $own:ident: $own_type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(extend("oneOf" = [
            { "required": ["get"] }, { "required": ["post"] }, { "required": ["put"] },
            { "required": ["patch"] }, { "required": ["delete"] },
        ]))]
        pub(in crate::scenario) struct $name {
            /// A GET request to this URL.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) get: Option<At<String>>,
            /// A POST request to this URL.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) post: Option<At<String>>,
            /// A PUT request to this URL.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) put: Option<At<String>>,
            /// A PATCH request to this URL.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) patch: Option<At<String>>,
            /// A DELETE request to this URL.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) delete: Option<At<String>>,
            /// The JSON body, with placeholders in its texts. Default: none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) body: Option<At<Value>>,
            $(
                $(#[$own_doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub(in crate::scenario) $own: Option<$own_type>,
            )*
        }

        impl $name {
            /// The request alone.
            pub(in crate::scenario) fn request(&self) -> RequestFields<'_> {
                RequestFields {
                    methods: [
                        ("GET", self.get.as_ref()),
                        ("POST", self.post.as_ref()),
                        ("PUT", self.put.as_ref()),
                        ("PATCH", self.patch.as_ref()),
                        ("DELETE", self.delete.as_ref()),
                    ],
                    body: self.body.as_ref(),
                }
            }

            /// Settings with this request and nothing else.
            pub(in crate::scenario) fn of(method: &str, url: &str, body: Option<&Value>) -> Self {
                let mut settings = Self { body: body.cloned().map(At::nowhere), ..Self::default() };
                let url = Some(At::nowhere(url.to_owned()));
                match method {
                    "GET" => settings.get = url,
                    "PUT" => settings.put = url,
                    "PATCH" => settings.patch = url,
                    "DELETE" => settings.delete = url,
                    _ => settings.post = url,
                }
                settings
            }
        }
    };
}

/// What a request is made of: the methods that have a URL (one, in a file without a mistake), and the body.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario) struct RequestFields<'a> {
    /// Each method and its URL.
    pub(in crate::scenario) methods: [(&'static str, Option<&'a At<String>>); 5],
    /// The body.
    pub(in crate::scenario) body: Option<&'a At<Value>>,
}

with_request! {
    /// A request to the target: to a path at its domain, or to an absolute HTTPS URL.
    RequestSettings {}
}

with_request! {
    /// A request whose answer gives values.
    PreparationSettings {
        /// The placeholders that it fills, each with the place of its value in the answer (JSON Pointer). Default: none.
        #[schemars(with = "Option<BTreeMap<String, String>>")]
        take: Named<At<String>>,
    }
}

/// What a target's operator can be asked for.
#[derive(Debug, Clone, Default, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct HookSettings {
    /// The User allows a sign-in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) approve_sign_in: Option<At<HookRequestSettings>>,
    /// The terms of an open operation change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) revise: Option<At<HookRequestSettings>>,
    /// An operation in progress gets its outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) settle: Option<At<SettleSettings>>,
    /// How often operations were performed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) performed: Option<At<PerformedSettings>>,
}

with_request! {
    /// A request to a target's operator: to an absolute URL, HTTP or HTTPS.
    HookRequestSettings {}
}

with_request! {
    /// How operations in progress get their outcome.
    SettleSettings {
        /// The actions that need it; at least one.
        actions: At<Vec<At<String>>>,
        /// How long after an answer first showed the operation in progress. Default: 0s.
        after: Spread,
        /// The chance that it succeeds. Default: 100%.
        succeed: Share,
    }
}

with_request! {
    /// How often operations were performed: either `count`, or `performed` and `operations`.
    PerformedSettings {
        /// Where the count of one operation stands in the answer (JSON Pointer).
        count: At<String>,
        /// Where the number of performances stands in the answer (JSON Pointer).
        performed: At<String>,
        /// Where the number of operations performed stands in the answer (JSON Pointer).
        operations: At<String>,
    }
}
