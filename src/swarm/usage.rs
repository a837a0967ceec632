//! What the process has cost so far, as the system tells it.

use std::{fs, time::Duration};

/// Ticks of the kernel's process clock in a second; Linux fixes it at 100 for what it shows to programs.
const TICKS_PER_SECOND: u64 = 100;

/// What the process has cost so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time of all its threads, in user and system mode.
    pub cpu: Duration,
    /// The most memory it held at once, in bytes.
    pub memory_bytes_max: u64,
}

impl Usage {
    /// The cost until now; `None` where the system does not tell.
    #[must_use]
    pub fn now() -> Option<Self> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let status = fs::read_to_string("/proc/self/status").ok()?;
        Some(Self { cpu: cpu(&stat)?, memory_bytes_max: memory(&status)? })
    }

    /// The CPU time since `earlier`.
    #[must_use]
    pub fn cpu_since(&self, earlier: &Self) -> Duration {
        self.cpu.saturating_sub(earlier.cpu)
    }
}

/// `utime` and `stime`, the 14th and 15th field; the 2nd is the program's name in brackets and may hold anything.
fn cpu(stat: &str) -> Option<Duration> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis((user + system) * 1_000 / TICKS_PER_SECOND))
}

/// `VmHWM`, the resident set's high-water mark, in KiB.
fn memory(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_name_does_not_confuse_its_times() {
        let stat = "42 (a) b (c) S 1 42 42 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 4 0 100 0 0";
        assert_eq!(cpu(stat), Some(Duration::from_secs(3)));
    }

    #[test]
    fn memory_is_the_high_water_mark() {
        assert_eq!(memory("VmPeak:\t 9 kB\nVmHWM:\t  2048 kB\nVmRSS:\t 1 kB\n"), Some(2 * 1024 * 1024));
        assert_eq!(memory("VmPeak:\t 9 kB\n"), None);
    }
}
