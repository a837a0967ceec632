//! Every bound of the harness in one place, units last in the names.

/// The longest body that any party reads, in bytes. A longer one is an error in the history.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;

/// The longest metadata document (client metadata, JWKS, discovery) that a party fetches, in bytes (digest 1.4).
pub const DOCUMENT_BYTES_MAX: usize = 100 * 1024;

/// Redirects followed on a metadata fetch, each to HTTPS (digest 1.1).
pub const DOCUMENT_REDIRECTS_MAX: usize = 3;

/// How long a metadata fetch may take, in milliseconds.
pub const DOCUMENT_FETCH_MILLISECONDS_MAX: u64 = 5_000;

/// How long a request to a target's operator may take, in milliseconds.
pub const HOOK_MILLISECONDS_MAX: u64 = 10_000;

/// Requests to a target's operator that are under way at once when its count is taken.
pub const HOOKS_AT_ONCE_MAX: usize = 8;

/// The deepest nesting of a JSON document that a party reads.
pub const JSON_DEPTH_MAX: usize = 64;

/// The most replayed-proof identifiers that one replay guard remembers.
pub const REPLAY_ENTRIES_MAX: usize = 1_000_000;

/// The longest client or Session assertion lifetime, in seconds (digest 3.1).
pub const ASSERTION_SECONDS_MAX: i64 = 300;

/// Clock difference that a verifier of assertions allows, in seconds (digest 3.1).
pub const CLOCK_SKEW_SECONDS: i64 = 30;

/// Headers that a party reads of one request or answer.
pub const HEADERS_MAX: usize = 100;

/// Idle connections that the Wire keeps to one host.
pub const IDLE_CONNECTIONS_PER_HOST_MAX: usize = 1_024;
/// The longest scenario or Company file, in bytes.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;

/// The deepest nesting of a scenario or Company file.
pub const FILE_DEPTH_MAX: usize = 24;

/// The most values of a scenario or Company file, aliases counted each time.
pub const FILE_NODES_MAX: usize = 100_000;

/// The most mistakes that one pass over a file and its profiles reports.
pub const FILE_MISTAKES_MAX: usize = 100;

/// The longest interval log that service times are taken from, in bytes.
pub const LOG_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Workers of a Company, places in its queue, and connections of a database.
pub const CAPACITY_MAX: u32 = 1_000_000;

/// Companies of a run, all groups together.
pub const COMPANIES_MAX: u32 = 100;

/// Operators of a run.
pub const OPERATORS_MAX: u32 = 1_000;

/// Users of a run, and Agents or journeys in flight at once.
pub const USERS_MAX: u32 = 200_000;

/// Confirms that one Agent sends side by side.
pub const CONFIRM_COPIES_MAX: u32 = 256;

/// A journey's weight.
pub const WEIGHT_MAX: u32 = 1_000_000;

/// Steps of one action or journey.
pub const STEPS_MAX: usize = 64;

/// Journeys a second, at the highest point of an arrival rate.
pub const RATE_PER_SECOND_MAX: f64 = 1_000_000.0;

/// The longest duration of a file, in seconds: 100 days.
pub const DURATION_SECONDS_MAX: u64 = 100 * 24 * 3_600;

/// How far a run's wall clock is moved on at the most, all moves together, in seconds: 100 years of 365 days. Times stay
/// far from 2262, where nanoseconds since 1970 no longer fit 64 bits.
pub const WALL_MOVED_SECONDS_MAX: u64 = 100 * 365 * 24 * 3_600;

/// How long a load entry starts journeys at the most that only a number of operations bounds, in seconds.
pub const LOAD_SECONDS_DEFAULT: u64 = 600;

/// How long a Company does not fetch an operator's keys again for an unknown `kid`, in seconds (digest 1.4).
pub const KEYS_REFETCH_SECONDS_MIN: u64 = 30;

/// How long a Company takes client metadata as it is, in seconds.
pub const CLIENT_METADATA_SECONDS_MAX: u64 = 300;

/// The longest `client_id` that a Company looks at, in bytes.
pub const CLIENT_ID_BYTES_MAX: usize = 2_048;

/// How long the codes of a sign-in are good at a simulated Company, in seconds.
pub const SIGN_IN_SECONDS: u64 = 600;

/// How often a simulated Company lets an Agent poll for a sign-in, in seconds.
pub const SIGN_IN_INTERVAL_SECONDS: u64 = 1;

/// The longest account name that a simulated Company takes on its sign-in page, in bytes.
pub const ACCOUNT_BYTES_MAX: usize = 256;

/// Operators whose fetches a Company keeps apart; beyond that, idle ones are forgotten.
pub const CLIENT_FETCHES_MAX: usize = 4_096;

/// The longest order or item ID that a Company takes, in bytes.
pub const ORDER_ID_BYTES_MAX: usize = 256;
