//! A party's durable disk: what outlives its incarnations. It is memory in both worlds, so that a restart costs nothing.

use std::{
    any::Any,
    collections::BTreeMap,
    fmt,
    hash::BuildHasher as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustc_hash::{FxBuildHasher, FxHashMap};
use smol_str::SmolStr;

/// Parts of a table that lock on their own.
const SHARDS: usize = 16;

/// Quick, and the same on every run, unlike the hasher that maps have by default. No order ever follows from it.
type Rows<V> = FxHashMap<SmolStr, Arc<V>>;

type AnyTable = Arc<dyn Any + Send + Sync>;

/// The disk of one party; cheap to clone.
#[derive(Clone, Default)]
pub struct Disk {
    tables: Arc<Mutex<BTreeMap<&'static str, AnyTable>>>,
}

impl fmt::Debug for Disk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Disk").field("tables", &lock(&self.tables).keys()).finish()
    }
}

impl Disk {
    /// The table of that name, made empty where there is none of that name and type yet.
    #[must_use]
    pub fn table<V: Send + Sync + 'static>(&self, name: &'static str) -> Table<V> {
        let mut tables = lock(&self.tables);
        let found = tables.get(name).and_then(|table| Arc::clone(table).downcast::<Shards<V>>().ok());
        let shards = found.unwrap_or_else(|| {
            let made = Arc::new(Shards::<V>::default());
            tables.insert(name, Arc::clone(&made) as AnyTable);
            made
        });
        Table { shards }
    }
}

struct Shards<V> {
    parts: [Mutex<Rows<V>>; SHARDS],
}

impl<V> Default for Shards<V> {
    fn default() -> Self {
        Self { parts: std::array::from_fn(|_| Mutex::default()) }
    }
}

/// A durable table of rows by key. One row's transaction is atomic and synced when it returns.
pub struct Table<V> {
    shards: Arc<Shards<V>>,
}

impl<V> Clone for Table<V> {
    fn clone(&self) -> Self {
        Self { shards: Arc::clone(&self.shards) }
    }
}

impl<V> fmt::Debug for Table<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Table").finish_non_exhaustive()
    }
}

impl<V> Table<V> {
    fn part(&self, key: &str) -> MutexGuard<'_, Rows<V>> {
        // Neither the low bits nor the highest, which say where in its part a row is.
        let shard = (FxBuildHasher.hash_one(key) >> 32) as usize % SHARDS;
        lock(&self.shards.parts[shard])
    }

    /// The row of that key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Arc<V>> {
        self.part(key).get(key).cloned()
    }

    /// Looks at the row of that key and may replace, make or remove it, with nothing in between.
    pub fn transact<R>(&self, key: &str, change: impl FnOnce(&mut Option<Arc<V>>) -> R) -> R {
        let mut part = self.part(key);
        let known = part.get_mut(key);
        let mut row = known.as_deref().cloned();
        let result = change(&mut row);
        match (known, row) {
            (Some(known), Some(row)) => *known = row,
            (Some(_), None) => drop(part.remove(key)),
            (None, Some(row)) => drop(part.insert(key.into(), row)),
            (None, None) => {}
        }
        result
    }

    /// Every row at some moment each, in the order of their keys.
    #[must_use]
    pub fn rows(&self) -> Vec<(SmolStr, Arc<V>)> {
        let mut rows: Vec<_> = self
            .shards
            .parts
            .iter()
            .flat_map(|part| lock(part).iter().map(|(key, row)| (key.clone(), Arc::clone(row))).collect::<Vec<_>>())
            .collect();
        rows.sort_by(|one, other| one.0.cmp(&other.0));
        rows
    }
}

/// A lock whose holder panicked still holds whole rows: `transact` puts a row in only when it is done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_opened_again_has_its_rows() {
        let disk = Disk::default();
        disk.table::<u32>("numbers").transact("a", |row| *row = Some(Arc::new(1)));
        assert_eq!(disk.table::<u32>("numbers").get("a").as_deref(), Some(&1));
        assert_eq!(disk.table::<u32>("others").get("a"), None);
    }

    #[test]
    fn a_transaction_sees_and_replaces_one_row_at_a_time() {
        let table = Disk::default().table::<u64>("counts");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        table.transact("n", |row| {
                            *row = Some(Arc::new(row.as_deref().copied().unwrap_or(0) + 1));
                        });
                    }
                });
            }
        });
        assert_eq!(table.get("n").as_deref(), Some(&2_000));
    }

    #[test]
    fn rows_come_in_the_order_of_their_keys() {
        let table = Disk::default().table::<()>("keys");
        for key in ["b", "c", "a"] {
            table.transact(key, |row| *row = Some(Arc::new(())));
        }
        table.transact("b", |row| *row = None);
        let keys: Vec<_> = table.rows().into_iter().map(|row| row.0).collect();
        assert_eq!(keys, ["a", "c"]);
    }
}
