//! Databases: a limited number of connections, and rows that are locked one request at a time.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use smol_str::{SmolStr, format_smolstr};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{plan::CompanyPlan, world::World};

/// The databases of a run, by name; Companies that share one find each other here. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Databases(Arc<Mutex<BTreeMap<SmolStr, Arc<Database>>>>);

impl Databases {
    /// The database of a Company, if it has one; made when the first of its Companies asks for it.
    pub(super) fn of(&self, plan: &CompanyPlan) -> Option<Arc<Database>> {
        let share = plan.capacity.as_ref()?.database.as_ref()?;
        let name = match &share.name {
            Some(name) => name.clone(),
            None => format_smolstr!("group {}", plan.group), // no name has a space in it
        };
        let mut databases = lock(&self.0);
        let made = || Arc::new(Database::new(share.connections));
        Some(Arc::clone(databases.entry(name).or_insert_with(made)))
    }
}

/// One database.
#[derive(Debug)]
pub(super) struct Database {
    connections: Semaphore,
    /// The rows that somebody holds or waits for.
    rows: Mutex<BTreeMap<SmolStr, Arc<Semaphore>>>,
}

impl Database {
    fn new(connections: u32) -> Self {
        Self { connections: Semaphore::new(connections as usize), rows: Mutex::default() }
    }

    /// Waits in turn for a connection and then, holding it, for the row, if one is to be changed; keeps both for `time`.
    pub(super) async fn transact(&self, world: &World, row: Option<&SmolStr>, time: Duration) {
        let _connection = self.connections.acquire().await;
        let _row = match row {
            Some(row) => self.row(row).await,
            None => None,
        };
        world.sleep(time).await;
    }

    async fn row(&self, id: &SmolStr) -> Option<Row<'_>> {
        let row = Arc::clone(lock(&self.rows).entry(id.clone()).or_insert_with(|| Arc::new(Semaphore::new(1))));
        // Made before the wait, so that one who is gone before the turn comes leaves no row behind.
        let mut held = Row { database: self, id: id.clone(), permit: None };
        held.permit = row.acquire_owned().await.ok();
        Some(held)
    }
}

/// A row that is held, or waited for.
struct Row<'a> {
    database: &'a Database,
    id: SmolStr,
    permit: Option<OwnedSemaphorePermit>,
}

impl Drop for Row<'_> {
    fn drop(&mut self) {
        drop(self.permit.take());
        let mut rows = lock(&self.database.rows);
        // Whoever holds or waits for it has a part in it, too.
        if rows.get(&self.id).is_some_and(|row| Arc::strong_count(row) == 1) {
            rows.remove(&self.id);
        }
    }
}

/// A lock whose holder panicked is still whole: every change under it is one insertion or removal.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
