//! Whether the checker finds what it has to find, as a table and as JSON: what `poppyfield mutants` prints.

use serde::Serialize;

use super::{
    ExitStatus, Style,
    format::{count, counted},
    terminal::page::Page,
    verdict::word,
};

/// The checker's mutation score.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Mutants {
    /// Every defect that was tried, those of Companies first.
    pub defects: Vec<MutantRow>,
    /// Seeds in which correct parties were accused of anything.
    pub accused: u64,
    /// Operations of correct parties under the same faults.
    pub operations: u64,
    /// The scenarios in which correct parties were tried.
    pub scenarios: Vec<InnocentRow>,
    /// Whether it was interrupted, so that trials are missing.
    pub partial: bool,
}

/// A defect.
#[derive(Debug, Clone, Serialize)]
pub struct MutantRow {
    /// Its name.
    pub name: String,
    /// `company` or `agent`.
    pub party: String,
    /// The scenario that it was tried in.
    pub scenario: String,
    /// The anomaly that it has to raise.
    pub must: String,
    /// Every anomaly that showed.
    pub found: Vec<String>,
    /// Anomalies that it may not raise, and did.
    pub strange: Vec<String>,
    /// Whether its own anomaly showed, and none that it may not raise.
    pub caught: bool,
    /// Seeds that were tried.
    pub seeds: u64,
    /// The share of them that shows its own anomaly, 0 to 1.
    pub rate: f64,
    /// The first seed that does.
    pub first: Option<u64>,
    /// Why a seed came to no proper end, if one did.
    pub trouble: Option<String>,
}

/// A scenario with correct parties.
#[derive(Debug, Clone, Serialize)]
pub struct InnocentRow {
    /// The scenario.
    pub scenario: String,
    /// Seeds that were tried.
    pub seeds: u64,
    /// Operations in them.
    pub operations: u64,
    /// Seeds in which anybody was accused.
    pub accused: u64,
    /// The first of them, and of what.
    pub first: Option<String>,
}

impl Mutants {
    /// Takes what correct parties showed in a scenario.
    pub fn innocent(&mut self, row: InnocentRow) {
        self.accused += row.accused;
        self.operations += row.operations;
        self.scenarios.push(row);
    }

    /// 0 if every defect was caught and nobody was accused, else 1; 130 after an interrupt.
    #[must_use]
    pub fn status(&self) -> ExitStatus {
        if self.accused > 0 || self.defects.iter().any(|row| !row.strange.is_empty() || row.trouble.is_some()) {
            ExitStatus::Violated
        } else if self.partial {
            ExitStatus::Interrupted
        } else if self.defects.iter().all(|row| row.caught) {
            ExitStatus::Held
        } else {
            ExitStatus::Violated
        }
    }

    fn sentence(&self) -> String {
        let caught = self.defects.iter().filter(|row| row.caught).count() as u64;
        let all = self.defects.len() as u64;
        let defects = counted(all, "defect", "defects");
        let caught = if caught == all { "all caught".to_owned() } else { format!("{} caught", count(caught)) };
        let accused = match self.accused {
            0 => "no false alarm".to_owned(),
            accused => counted(accused, "seed with a false alarm", "seeds with false alarms"),
        };
        let score = if self.partial { "until the interrupt, " } else { "" };
        format!("{score}{defects}, {caught}; {accused} in {}.", counted(self.operations, "operation", "operations"))
    }
}

/// Renders it in lines of at most `width` columns.
#[must_use]
pub fn render(mutants: &Mutants, width: usize, style: Style) -> String {
    let mut page = Page::new(width, style);
    let status = mutants.status();
    page.verdict(&word(status).to_uppercase(), &mutants.sentence(), status == ExitStatus::Held);
    for (title, party) in [("Company's defect", "company"), ("Agent's defect", "agent")] {
        let rows: Vec<&MutantRow> = mutants.defects.iter().filter(|row| row.party == party).collect();
        if rows.is_empty() {
            continue;
        }
        page.blank();
        page.heading(&line([title, "has to raise", "seeds", "showing"]));
        for row in rows {
            defect(&mut page, row);
        }
    }
    page.blank();
    page.heading(&line(["Correct parties in", "", "seeds", "accused"]));
    for row in &mutants.scenarios {
        page.line(&line([&row.scenario, "", &count(row.seeds), &count(row.accused)]));
        if let Some(first) = &row.first {
            page.hanging("  ", first);
        }
    }
    page.finish()
}

fn defect(page: &mut Page, row: &MutantRow) {
    let rate = format!("{:.0} %", 100.0 * row.rate);
    page.line(&line([&row.name, &row.must, &count(row.seeds), &rate]));
    if row.first.is_none() {
        page.hanging("  ", &format!("not caught in {}", row.scenario));
    }
    if !row.strange.is_empty() {
        page.hanging("  ", &format!("raised what it may not: {}", row.strange.join(", ")));
    }
    if let Some(trouble) = &row.trouble {
        page.hanging("  ", trouble);
    }
}

/// A row of the table: 28, 32, 8 and 9 columns.
fn line([name, anomaly, seeds, rate]: [&str; 4]) -> String {
    format!("{name:<28}{anomaly:<32}{seeds:>8}{rate:>9}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, party: &str, must: &str, rate: f64) -> MutantRow {
        MutantRow {
            name: name.to_owned(),
            party: party.to_owned(),
            scenario: "timeout-recovery".to_owned(),
            must: must.to_owned(),
            found: vec![must.to_owned()],
            strange: Vec::new(),
            caught: rate > 0.0,
            seeds: 1_200,
            rate,
            first: (rate > 0.0).then_some(3),
            trouble: None,
        }
    }

    fn held() -> Mutants {
        let mut mutants = Mutants {
            defects: vec![
                row("drop-in-progress-on-restart", "company", "unresolved-at-quiescence", 0.4),
                row("hot-poll", "agent", "busy-poll", 0.43),
            ],
            ..Mutants::default()
        };
        let scenario = "timeout-recovery".to_owned();
        mutants.innocent(InnocentRow { scenario, seeds: 1_200, operations: 14_400, accused: 0, first: None });
        mutants
    }

    #[test]
    fn all_that_is_caught_fits_a_terminal() {
        let text = render(&held(), 80, Style::Plain);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_is_not_caught_or_strange_or_accused_is_named() {
        let mut mutants = held();
        mutants.defects[0] = row("drop-in-progress-on-restart", "company", "unresolved-at-quiescence", 0.0);
        (mutants.defects[1].caught, mutants.defects[1].strange) = (false, vec!["double-effect".to_owned()]);
        let first = Some("seed 7: step charge took effect twice.".to_owned());
        let scenario = "cancel-race".to_owned();
        mutants.innocent(InnocentRow { scenario, seeds: 1_200, operations: 14_400, accused: 1, first });
        insta::assert_snapshot!(render(&mutants, 80, Style::Plain));
    }

    #[test]
    fn the_status_follows_from_what_was_caught() {
        let status = |change: fn(&mut Mutants)| {
            let mut mutants = held();
            change(&mut mutants);
            mutants.status().code()
        };
        assert_eq!(status(|_| {}), 0);
        assert_eq!(status(|it| it.defects[0].caught = false), 1);
        assert_eq!(status(|it| it.accused = 1), 1);
        assert_eq!(status(|it| (it.partial, it.defects[0].caught) = (true, false)), 130);
        assert_eq!(status(|it| (it.partial, it.accused) = (true, 1)), 1);
    }
}
