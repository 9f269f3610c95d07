//! The folder of a report. `results.json` is written after every row, so that an interrupted run keeps its rows.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::{figures, markdown, page, plots, results::Results, tabular};

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be written: {error}", file.display())]
pub(crate) struct WriteError {
    file: PathBuf,
    #[source]
    error: io::Error,
}

/// A report's folder.
pub(crate) struct Folder {
    path: PathBuf,
    /// Plots of the report that was in the folder before, kept until this report has its own.
    old_plots: Vec<String>,
}

impl Folder {
    /// Creates the folder and checks that it can be written to, before anything runs.
    pub(crate) fn create(path: &Path) -> Result<Self, WriteError> {
        let failed = |error| WriteError {
            file: path.to_owned(),
            error,
        };
        fs::create_dir_all(path).map_err(failed)?;
        NamedTempFile::new_in(path).map_err(failed)?;
        // A file that is not a report lists no plots.
        let old_plots = Results::read(path).map_or_else(|_| Vec::new(), |results| results.plots);
        Ok(Folder {
            path: path.to_owned(),
            old_plots,
        })
    }

    /// The path of the page.
    pub(crate) fn page(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// Writes the results so far.
    pub(crate) fn keep(&self, results: &mut Results) -> Result<(), WriteError> {
        results.plots.clone_from(&self.old_plots);
        self.write_results(results)
    }

    fn write_results(&self, results: &mut Results) -> Result<(), WriteError> {
        figures::fill(results);
        keep_main_loops_of_largest(results);
        let text = serde_json::to_vec_pretty(results).map_err(|error| WriteError {
            file: self.path.join("results.json"),
            error: error.into(),
        })?;
        self.write("results.json", &text)
    }

    /// Writes everything.
    pub(crate) fn finish(&self, results: &mut Results) -> Result<(), WriteError> {
        figures::fill(results);
        keep_main_loops_of_largest(results);
        let csv = tabular::csv(results).map_err(|error| WriteError {
            file: self.path.join("results.csv"),
            error: error.into(),
        })?;
        self.write("results.csv", &csv)?;
        self.write("report.md", markdown::markdown(results).as_bytes())?;
        let plots = plots::all(results);
        let files = plots.iter().map(|plot| format!("{}.svg", plot.file));
        results.plots = files.collect();
        for (plot, file) in plots.iter().zip(&results.plots) {
            self.write(file, plot.svg.as_bytes())?;
        }
        self.write("report.html", page::write(results, &plots).as_bytes())?;
        self.write_results(results)?;
        let is_stale = |old: &&String| !results.plots.contains(old);
        for file in self.old_plots.iter().filter(is_stale) {
            self.remove(file)?;
        }
        Ok(())
    }

    /// Removes a plot of an earlier report. Only plots in the folder are removed, whatever the file lists.
    fn remove(&self, name: &str) -> Result<(), WriteError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_plot = name
            .strip_suffix(".svg")
            .is_some_and(|stem| !stem.is_empty() && stem.chars().all(plain));
        if !is_plot {
            return Ok(());
        }
        let file = self.path.join(name);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(WriteError { file, error })
            }
            _ => Ok(()),
        }
    }

    /// Replaces the file atomically.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        let file = self.path.join(name);
        let written = NamedTempFile::new_in(&self.path).and_then(|mut part| {
            part.write_all(bytes)?;
            // Temporary files are readable only by their owner; a report is not private.
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                part.as_file()
                    .set_permissions(fs::Permissions::from_mode(0o644))?;
            }
            part.persist(&file).map_err(|error| error.error)?;
            Ok(())
        });
        written.map_err(|error| WriteError { file, error })
    }
}

/// Main loops take most of a file, so only those of the largest problem of each section are kept.
fn keep_main_loops_of_largest(results: &mut Results) {
    let largest: Vec<_> = tabular::sections(results)
        .iter()
        .filter_map(|section| tabular::shown(&section.rows).first().copied())
        .map(|row| (row.device, row.problem.clone()))
        .collect();
    for row in &mut results.rows {
        if !largest.contains(&(row.device, row.problem.clone())) {
            row.main_loop = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::{results, row};
    use super::*;

    #[test]
    fn a_report_is_whole_and_its_results_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new folder");
        let report = Folder::create(&path).unwrap();
        let mut run = results(vec![row("naive", 64, 4e-3), row("lds_tiled", 64, 1e-3)]);
        run.complete = false;
        report.keep(&mut run).unwrap();
        assert!(!Results::read(&path).unwrap().complete);
        run.complete = true;
        report.finish(&mut run).unwrap();
        assert_eq!(Results::read(&path).unwrap(), run);
        let mut names: Vec<_> = fs::read_dir(&path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert!(names.iter().any(|name| name.ends_with(".svg")), "{names:?}");
        for name in ["report.html", "report.md", "results.csv", "results.json"] {
            assert!(names.iter().any(|n| n == name), "{name}");
        }
        assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
    }

    #[test]
    fn plots_of_an_earlier_report_go_and_other_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let write = |run: &mut Results| Folder::create(path).unwrap().finish(run).unwrap();
        let plots = || {
            let names = fs::read_dir(path).unwrap();
            let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<_> = names.filter(|name| name.ends_with(".svg")).collect();
            names.sort();
            names
        };
        fs::write(path.join("mine.svg"), "x").unwrap();
        let mut before = results(vec![row("naive", 64, 4e-3)]);
        before.run.devices[0].machine = Some("MI100".into());
        write(&mut before);
        let mut expected = before.plots.clone();
        assert!(!expected.is_empty() && expected.iter().all(|name| name.starts_with("mi100-")));
        expected.push("mine.svg".into());
        expected.sort();
        assert_eq!(plots(), expected);
        // Listed names that are not plots in the folder are ignored.
        before.plots.push("../mine.svg".into());
        before.plots.push("results.csv".into());
        fs::write(
            path.join("results.json"),
            serde_json::to_vec(&before).unwrap(),
        )
        .unwrap();
        let mut after = results(vec![row("naive", 64, 4e-3)]);
        // An interrupted run leaves the old plots for the next one.
        let report = Folder::create(path).unwrap();
        report.keep(&mut after).unwrap();
        assert_eq!(plots(), expected);
        write(&mut after);
        let mut expected = after.plots.clone();
        assert!(expected.iter().all(|name| name.starts_with("mi300x-")));
        expected.push("mine.svg".into());
        expected.sort();
        assert_eq!(plots(), expected);
        assert!(path.join("results.csv").exists());
        assert_eq!(Results::read(path).unwrap(), after);
    }

    #[test]
    fn a_folder_that_cannot_be_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        let error = Folder::create(&file.join("below")).err().unwrap();
        assert!(error.to_string().contains("below` cannot be written: "));
    }
}
