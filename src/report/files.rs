//! The folder of a report. `results.json` is written after every row, so that an interrupted run leaves what it has.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::{figures, page, plots, results::Results, tabular};

/// What could not be written.
#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be written: {error}", file.display())]
pub(crate) struct WriteError {
    file: PathBuf,
    #[source]
    error: io::Error,
}

/// A report's folder.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes it, and finds out whether it can be written to, before anything has run for it.
    pub(crate) fn create(path: &Path) -> Result<Self, WriteError> {
        let failed = |error| WriteError {
            file: path.to_owned(),
            error,
        };
        fs::create_dir_all(path).map_err(failed)?;
        NamedTempFile::new_in(path).map_err(failed)?;
        Ok(Folder(path.to_owned()))
    }

    /// Where the page is.
    pub(crate) fn page(&self) -> PathBuf {
        self.0.join("report.html")
    }

    /// Writes the results so far.
    pub(crate) fn keep(&self, results: &mut Results) -> Result<(), WriteError> {
        figures::fill(results);
        let text = serde_json::to_vec_pretty(results).map_err(|error| WriteError {
            file: self.0.join("results.json"),
            error: error.into(),
        })?;
        self.write("results.json", &text)
    }

    /// Writes everything.
    pub(crate) fn finish(&self, results: &mut Results) -> Result<(), WriteError> {
        self.keep(results)?;
        let csv = tabular::csv(results).map_err(|error| WriteError {
            file: self.0.join("results.csv"),
            error: error.into(),
        })?;
        self.write("results.csv", &csv)?;
        self.write("report.md", tabular::markdown(results).as_bytes())?;
        let plots = plots::all(results);
        for plot in &plots {
            self.write(&format!("{}.svg", plot.file), plot.svg.as_bytes())?;
        }
        self.write("report.html", page::write(results, &plots).as_bytes())
    }

    /// Whoever reads a file while it is written finds the old one.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        let file = self.0.join(name);
        let written = NamedTempFile::new_in(&self.0).and_then(|mut part| {
            part.write_all(bytes)?;
            // Temporary files are the owner's alone; a report is for everybody who may read its folder.
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
    fn a_folder_that_cannot_be_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        let error = Folder::create(&file.join("below")).err().unwrap();
        assert!(error.to_string().contains("below` cannot be written: "));
    }
}
