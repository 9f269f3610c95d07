//! What a program is, and what it has of HIP.
//!
//! Only a program that loads its libraries by name finds the emulator. A program for which that fails is refused with the
//! reason: it would otherwise run on a GPU or fail without telling why.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Read as _},
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::MetadataExt as _,
    },
    path::{Path, PathBuf},
};

use ferrowave_code_object::{CodeObject, code_objects};
use object::{
    Endianness, elf,
    read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _},
};

use super::library::HIP_NAMES;

/// Scripts whose interpreters are scripts: as many as Linux follows.
const MOST_SCRIPTS: usize = 5;
/// The start of the names of HIP's library.
const HIP: &str = "libamdhip64.so";

/// A program that can run on the emulator.
#[derive(Debug)]
pub(crate) struct Program {
    /// Its file.
    pub(crate) path: PathBuf,
    /// The interpreter, if it is a script.
    interpreter: Option<PathBuf>,
    /// The libraries of HIP that it is linked with.
    libraries: Vec<String>,
    /// The GPUs that it has code for.
    gpus: Vec<String>,
}

/// Why a program does not run on the emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There is none of that name: shells exit with 127.
    Missing(String),
    /// It cannot be run, or would not load the emulator: shells exit with 126.
    Unfit(String),
}

impl Program {
    /// Finds a program as a shell does, and looks at it.
    ///
    /// # Errors
    /// If there is none, or it does not run on the emulator.
    pub(crate) fn find(name: &OsStr) -> Result<Self, Refused> {
        let path = locate(name)?;
        let mut interpreter = None;
        for _ in 0..MOST_SCRIPTS {
            let file = interpreter.as_ref().unwrap_or(&path);
            let unfit = |why: String| Refused::Unfit(format!("{}: {why}", file.display()));
            match first_line_interpreter(file).map_err(|error| unfit(error.to_string()))? {
                Some(next) => {
                    accessible(&next)
                        .map_err(|why| unfit(format!("its interpreter cannot be run: {why}")))?;
                    interpreter = Some(next);
                }
                None => {
                    let (libraries, gpus) = look(file).map_err(unfit)?;
                    return Ok(Program {
                        path,
                        interpreter,
                        libraries,
                        gpus,
                    });
                }
            }
        }
        Err(Refused::Unfit(format!(
            "{}: a script of scripts of scripts",
            path.display()
        )))
    }

    /// What it has of HIP, in words. `emulated` are the GPUs that it will find.
    pub(crate) fn description(&self, emulated: &[&str]) -> String {
        let mut text = match &self.interpreter {
            Some(interpreter) => {
                format!("{}, run by {},", self.path.display(), interpreter.display())
            }
            None => self.path.display().to_string(),
        };
        match self.libraries.is_empty() {
            true => text += " is not linked with HIP",
            false => text += &format!(" is linked with {}", self.libraries.join(" and ")),
        }
        if !self.gpus.is_empty() {
            text += &format!(" and has code for {}", self.gpus.join(", "));
            for gpu in emulated
                .iter()
                .filter(|gpu| !self.gpus.iter().any(|has| has == *gpu))
            {
                text += &format!(", not for {gpu}");
            }
        } else if self.libraries.is_empty() {
            text += "; what it loads by name finds the emulator";
        }
        text
    }
}

/// The file of a program, by the rules of a shell.
fn locate(name: &OsStr) -> Result<PathBuf, Refused> {
    let said = name.display();
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return match accessible(&path) {
            Ok(()) => Ok(path),
            Err(why) if path.exists() => Err(Refused::Unfit(format!("{said}: {why}"))),
            Err(why) => Err(Refused::Missing(format!("{said}: {why}"))),
        };
    }
    let mut unfit = None;
    for folder in env::split_paths(&env::var_os("PATH").unwrap_or_default()) {
        let path = folder.join(name);
        match accessible(&path) {
            Ok(()) => return Ok(path),
            Err(why) if path.is_file() => {
                unfit = Some(Refused::Unfit(format!("{}: {why}", path.display())));
            }
            Err(_) => {}
        }
    }
    Err(unfit.unwrap_or_else(|| {
        let hint = match Path::new(name).is_file() {
            true => format!("; the file here is ./{said}"),
            false => String::new(),
        };
        Refused::Missing(format!("{said}: no program of this name in PATH{hint}"))
    }))
}

/// Whether the user may run a file.
fn accessible(path: &Path) -> Result<(), String> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => error.to_string(),
    })?;
    if metadata.is_dir() {
        return Err("it is a folder".to_owned());
    }
    let text =
        std::ffi::CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: a C string.
    match unsafe { libc::access(text.as_ptr(), libc::X_OK) } {
        0 => Ok(()),
        _ => {
            let why = fs::read(path).ok().and_then(|bytes| no_program(&bytes));
            Err(why
                .unwrap_or("it is not executable; chmod +x makes it so")
                .to_owned())
        }
    }
}

/// Why a file is no program, if its format is that of none.
fn no_program(bytes: &[u8]) -> Option<&'static str> {
    let is_elf = bytes.starts_with(&elf::ELFMAG);
    if is_elf && bytes.get(18..20) == Some(elf::EM_AMDGPU.0.to_le_bytes().as_slice())
        || !is_elf && code_objects(bytes).is_ok_and(|found| !found.is_empty())
    {
        return Some(
            "it is code for a GPU, not a program; the commands check and profile launch its kernels with --code-object",
        );
    }
    (!is_elf && !bytes.starts_with(b"#!"))
        .then_some("it is neither an ELF program nor a script with `#!` in its first line")
}

/// The interpreter that a script names in its first line, if the file is a script.
fn first_line_interpreter(path: &Path) -> io::Result<Option<PathBuf>> {
    // Linux reads so many bytes.
    let mut start = Vec::new();
    File::open(path)?.take(256).read_to_end(&mut start)?;
    let Some(rest) = start.strip_prefix(b"#!") else {
        return Ok(None);
    };
    let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let mut words = line
        .split(|byte| b" \t\r".contains(byte))
        .filter(|word| !word.is_empty());
    let word = words
        .next()
        .ok_or_else(|| io::Error::other("its first line names no interpreter"))?;
    Ok(Some(PathBuf::from(OsString::from_vec(word.to_owned()))))
}

/// The libraries of HIP that an ELF program is linked with, and the GPUs that it has code for.
fn look(path: &Path) -> Result<(Vec<String>, Vec<String>), String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let dynamic = Dynamic::read(&bytes)?;
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if runs_as_another(&metadata) {
        return Err(
            "it runs as another user or group (setuid, setgid), and so takes no library path"
                .to_owned(),
        );
    }
    let mut libraries = Vec::new();
    for name in &dynamic.needed {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        if !file.starts_with(HIP) && !file.starts_with("libhiprtc.so") {
            continue;
        }
        if !folder.is_empty() {
            return Err(format!(
                "it is linked with {name}, a path, for which the library path is not used; `patchelf --replace-needed {name} \
                 {file}` makes it a name"
            ));
        }
        if !HIP_NAMES.contains(&file) {
            return Err(format!(
                "it is linked with {file}; the emulator stands for {}",
                HIP_NAMES.join(", ")
            ));
        }
        libraries.push(file.to_owned());
    }
    if let Some(own) = dynamic.own_library(path) {
        return Err(format!(
            "it brings its own {}: its DT_RPATH comes before the library path; `patchelf --set-rpath` makes it a DT_RUNPATH, \
             which comes after it",
            own.display()
        ));
    }
    let mut gpus: Vec<String> = Vec::new();
    for found in code_objects(&bytes).unwrap_or_default() {
        let gpu = match &found.entry {
            Some(entry) => entry
                .rsplit("--")
                .next()
                .unwrap_or_default()
                .split(':')
                .next()
                .unwrap_or_default()
                .to_owned(),
            None => CodeObject::parse(&found.bytes)
                .map(|object| object.target().gpu.name().to_owned())
                .unwrap_or_default(),
        };
        if gpu.starts_with("gfx") && !gpus.contains(&gpu) {
            gpus.push(gpu);
        }
    }
    Ok((libraries, gpus))
}

fn runs_as_another(metadata: &fs::Metadata) -> bool {
    // SAFETY: neither fails nor takes pointers.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let mode = metadata.mode();
    (mode & libc::S_ISUID != 0 && metadata.uid() != user)
        || (mode & libc::S_ISGID != 0 && metadata.gid() != group)
}

/// What the loader reads of a program.
#[derive(Debug, Default)]
struct Dynamic {
    needed: Vec<String>,
    /// DT_RPATH, which is used only if there is no DT_RUNPATH.
    rpath: Option<String>,
    has_runpath: bool,
}

impl Dynamic {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        if let Some(why) = no_program(bytes) {
            return Err(why.to_owned());
        }
        if bytes.get(4) == Some(&elf::ELFCLASS32.0) {
            return Err(
                "it is a 32-bit program; the emulator, like ROCm, has 64 bits only".to_owned(),
            );
        }
        let malformed = |error: object::read::Error| format!("a malformed ELF file: {error}");
        let header = elf::FileHeader64::<Endianness>::parse(bytes).map_err(malformed)?;
        let endian = header.endian().map_err(malformed)?;
        let machine = header.e_machine(endian);
        if machine != MACHINE {
            return Err(format!(
                "it is for another processor (ELF machine {}) than this computer's ({})",
                machine.0, MACHINE.0
            ));
        }
        let segments = header.program_headers(endian, bytes).map_err(malformed)?;
        let is = |kind| {
            segments
                .iter()
                .any(|segment| segment.p_type(endian) == kind)
        };
        if !is(elf::PT_INTERP) {
            return Err(match header.e_type(endian) {
                elf::ET_EXEC | elf::ET_DYN if is(elf::PT_LOAD) => {
                    "it is linked statically, or is a library: it does not load HIP by name, so the emulator cannot take \
                     HIP's place"
                        .to_owned()
                }
                _ => "it is an ELF file, but not a program".to_owned(),
            });
        }
        let mut dynamic = Dynamic::default();
        let Some(entries) = segments
            .iter()
            .find_map(|segment| segment.dynamic(endian, bytes).transpose())
        else {
            return Ok(dynamic);
        };
        let entries = entries.map_err(malformed)?;
        let value = |tag| {
            entries
                .iter()
                .find(|entry| entry.tag(endian) == tag)
                .map(|entry| entry.val(endian))
        };
        let strings = value(elf::DT_STRTAB).and_then(|address| {
            segments.iter().find_map(|segment| {
                let (start, data) = (segment.p_vaddr(endian), segment.data(endian, bytes).ok()?);
                let offset = usize::try_from(address.checked_sub(start)?).ok()?;
                (segment.p_type(endian) == elf::PT_LOAD).then(|| data.get(offset..))?
            })
        });
        let strings = strings.ok_or("a malformed ELF file: its table of names is not in it")?;
        let text = |offset: u64| -> Result<String, String> {
            let rest = usize::try_from(offset)
                .ok()
                .and_then(|offset| strings.get(offset..));
            let name = rest.and_then(|rest| rest.split(|&byte| byte == 0).next());
            let name = name.ok_or("a malformed ELF file: a name is outside of its table")?;
            Ok(String::from_utf8_lossy(name).into_owned())
        };
        for entry in entries
            .iter()
            .take_while(|entry| entry.tag(endian) != elf::DT_NULL)
        {
            match entry.tag(endian) {
                elf::DT_NEEDED => dynamic.needed.push(text(entry.val(endian))?),
                elf::DT_RPATH => dynamic.rpath = Some(text(entry.val(endian))?),
                elf::DT_RUNPATH => dynamic.has_runpath = true,
                _ => {}
            }
        }
        Ok(dynamic)
    }

    /// A library of HIP that the loader takes before the one of the library path.
    fn own_library(&self, program: &Path) -> Option<PathBuf> {
        let rpath = self.rpath.as_ref().filter(|_| !self.has_runpath)?;
        let origin = fs::canonicalize(program).ok()?.parent()?.to_owned();
        rpath
            .split(':')
            .filter(|folder| !folder.is_empty())
            .find_map(|folder| {
                let folder = ["${ORIGIN}", "$ORIGIN"]
                    .iter()
                    .find_map(|name| folder.strip_prefix(name))
                    .map_or_else(
                        || PathBuf::from(folder),
                        |rest| PathBuf::from(format!("{}{rest}", origin.display())),
                    );
                let entries = fs::read_dir(folder).ok()?.flatten();
                let mut found: Vec<_> = entries
                    .map(|entry| entry.path())
                    .filter(|path| {
                        path.file_name()
                            .is_some_and(|name| name.as_bytes().starts_with(HIP.as_bytes()))
                    })
                    .collect();
                found.sort();
                found.into_iter().next()
            })
    }
}

/// This computer's processor in ELF's numbers.
const MACHINE: elf::Machine = match cfg!(target_arch = "aarch64") {
    true => elf::EM_AARCH64,
    false => elf::EM_X86_64,
};
