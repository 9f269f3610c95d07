//! Why HIP does not work on a computer that has an AMD GPU.

use std::{
    env,
    ffi::OsString,
    fmt, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Once,
};

use ferrowave_gpu::{KfdGpu, known_gpus};
use ferrowave_shared::gpus_with_kernels;

use super::root_folder::root;
use crate::hip::{LIBRARY_VARIABLE, LoadError, load::Unusable};

/// The variables that hide devices from HIP (ROCm, «GPU isolation techniques»).
const HIDING_VARIABLES: [&str; 4] = [
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "CUDA_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
];

/// Something that keeps HIP from working, and how to repair it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub repair: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.repair)
    }
}

/// What the diagnosis looks at. Tests make it up.
#[derive(Clone, Debug)]
pub struct System {
    /// The root folder of `/dev`, `/sys`, `/etc` and `/proc`.
    pub root: PathBuf,
    /// Opens a file for reading and writing.
    pub open: fn(&Path) -> io::Result<()>,
    /// A variable of the environment.
    pub variable: fn(&str) -> Option<OsString>,
}

impl System {
    /// This computer and this process.
    pub fn here() -> Self {
        System {
            root: root(),
            open: |path| {
                let mut options = fs::OpenOptions::new();
                options.read(true).write(true).open(path).map(drop)
            },
            variable: |name| env::var_os(name),
        }
    }

    /// The GPUs that Linux' driver lists.
    pub fn gpus(&self) -> Vec<KfdGpu> {
        KfdGpu::all(&self.root)
    }

    /// Whether Linux' driver for AMD's GPUs is there, with or without permission to use it.
    pub fn has_gpu(&self) -> bool {
        self.root.join("dev/kfd").exists() || !self.gpus().is_empty()
    }

    /// Why this process may not use the GPUs: files of devices that are missing or that it may not open. Empty if it may,
    /// or if there is no GPU.
    pub fn access(&self) -> Vec<Trouble> {
        if !self.has_gpu() {
            return Vec::new();
        }
        let mut files = vec!["dev/kfd".to_owned()];
        let minors = self.gpus().into_iter().filter_map(|gpu| gpu.render_minor);
        files.extend(minors.map(|minor| format!("dev/dri/renderD{minor}")));
        let mut troubles: Vec<Trouble> = Vec::new();
        for file in files {
            let Some(trouble) = self.file_trouble(&file) else {
                continue;
            };
            // Eight GPUs have one trouble.
            if troubles.iter().all(|known| known.repair != trouble.repair) {
                troubles.push(trouble);
            }
        }
        troubles
    }

    /// Everything that explains why HIP is unusable on a computer with a GPU; empty without one.
    pub fn troubles(&self, reason: &Unusable) -> Vec<Trouble> {
        if !self.has_gpu() {
            return Vec::new();
        }
        let mut troubles = self.access();
        let (what, repair) = match reason {
            Unusable::Load(LoadError::NotFound { .. }) => (
                "no HIP library is where the linker looks, in ROCM_PATH, in HIP_PATH, in /opt/rocm* or in a Python \
                 environment"
                    .to_owned(),
                format!("install ROCm 6.0 or later, or name its library in {LIBRARY_VARIABLE}"),
            ),
            Unusable::Load(error @ LoadError::Named { .. }) => (
                error.to_string(),
                format!("correct or unset {LIBRARY_VARIABLE}"),
            ),
            Unusable::Load(error) => (error.to_string(), "install a newer ROCm".to_owned()),
            // Without permission, HIP finds no device.
            Unusable::Hip(_) | Unusable::NoDevice if troubles.is_empty() => (
                format!("HIP finds no device that works: {reason}"),
                self.hidden().unwrap_or_else(|| {
                    "`rocminfo` and `sudo dmesg` may say why; the driver and ROCm must fit each other"
                        .to_owned()
                }),
            ),
            Unusable::Hip(_) | Unusable::NoDevice | Unusable::NoKernels(_) => return troubles,
        };
        troubles.push(Trouble { what, repair });
        troubles
    }

    /// Prints why the GPU of this computer is not used, once. Says nothing where there is no GPU that this project knows.
    pub fn warn(&self, reason: &Unusable) {
        static WARNED: Once = Once::new();
        if let Some(text) = self.warning(reason) {
            WARNED.call_once(|| {
                // `eprintln!` would panic where standard error is closed or full.
                let _ = writeln!(io::stderr(), "{text}");
            });
        }
    }

    fn warning(&self, reason: &Unusable) -> Option<String> {
        let listed = self.gpus();
        let mut known = known_gpus(&self.root);
        known.retain(|gpu| gpus_with_kernels().contains(gpu.name()));
        let troubles = self.troubles(reason);
        // Many processors have a GPU that there are no kernels for.
        if troubles.is_empty() || known.is_empty() && !listed.is_empty() {
            return None;
        }
        let names: Vec<_> = known.iter().map(|gpu| gpu.name()).collect();
        let names = match names.is_empty() {
            true => String::new(),
            false => format!(" ({})", names.join(", ")),
        };
        let mut text = format!(
            "warning: this computer has an AMD GPU{names}, but HIP cannot use it; the emulator runs instead"
        );
        for trouble in troubles {
            text += &format!("\n  {trouble}");
        }
        Some(text)
    }

    /// The variables that hide devices, if some are set.
    fn hidden(&self) -> Option<String> {
        let set: Vec<_> = HIDING_VARIABLES
            .iter()
            .filter_map(|name| {
                let value = (self.variable)(name)?;
                Some(format!("{name}={}", value.to_string_lossy()))
            })
            .collect();
        (!set.is_empty()).then(|| format!("{} hides devices: unset it", set.join(" ")))
    }

    /// Why a device's file, named from the root folder, can't be used.
    fn file_trouble(&self, file: &str) -> Option<Trouble> {
        let path = self.root.join(file);
        let container = "a container must be started with --device=/dev/kfd --device=/dev/dri";
        let Ok(metadata) = fs::metadata(&path) else {
            return Some(Trouble {
                what: format!("the driver lists a GPU, but /{file} is missing"),
                repair: format!("{container}; elsewhere `sudo modprobe amdgpu` makes it"),
            });
        };
        let error = (self.open)(&path).err()?;
        if error.kind() != io::ErrorKind::PermissionDenied {
            return Some(Trouble {
                what: format!("/{file} cannot be opened: {error}"),
                repair: "`sudo dmesg` may say why".to_owned(),
            });
        }
        let user = User::of_process(&self.root);
        let (gid, mode) = group_and_mode(&metadata);
        let may = |bits: u32| mode & bits == bits;
        // What the file's permissions allow and the system forbids, a container's rules for devices forbid.
        if user.uid == 0 || user.groups.contains(&gid) && may(0o060) || may(0o006) {
            return Some(Trouble {
                what: format!("/{file} may not be opened here, though its permissions allow it"),
                repair: container.to_owned(),
            });
        }
        let group = Group::with_id(&self.root, gid);
        let named = match &group {
            Some(group) => format!("group `{}`", group.name),
            None => format!("group {gid}"),
        };
        let name = &user.name;
        let repair = match &group {
            Some(group) if group.members.contains(name) => {
                format!(
                    "the user is in that group, but this session began before: log in again, or run `newgrp {}`",
                    group.name
                )
            }
            Some(group) if gid != 0 => {
                format!(
                    "run `sudo usermod -aG {} {name}` and log in again",
                    group.name
                )
            }
            Some(_) => "install ROCm's driver package, whose udev rules give the file to the group `render`".to_owned(),
            // A container does not have the host's names.
            None => format!("a container must be started with --group-add {gid}"),
        };
        Some(Trouble {
            what: format!("user `{name}` may not open /{file}, which belongs to the {named}"),
            repair,
        })
    }
}

/// The group of a file, and its permissions.
#[cfg(unix)]
fn group_and_mode(metadata: &fs::Metadata) -> (u32, u32) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.gid(), metadata.mode())
}

/// Windows has neither; the files of AMD's driver are Linux's.
#[cfg(not(unix))]
fn group_and_mode(_metadata: &fs::Metadata) -> (u32, u32) {
    (0, 0)
}

/// The user that this process runs as.
struct User {
    uid: u32,
    name: String,
    groups: Vec<u32>,
}

impl User {
    fn of_process(root: &Path) -> Self {
        let status = fs::read_to_string(root.join("proc/self/status")).unwrap_or_default();
        // `Uid:` and `Gid:` have the real, effective, saved and file system's identifier (proc_pid_status(5)).
        let numbers = |name: &str| -> Vec<u32> {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let words = line.unwrap_or_default().split_whitespace();
            words.filter_map(|word| word.parse().ok()).collect()
        };
        let uid = numbers("Uid:").get(1).copied().unwrap_or(u32::MAX);
        let mut groups = numbers("Groups:");
        groups.extend(numbers("Gid:").get(1));
        let passwd = fs::read_to_string(root.join("etc/passwd")).unwrap_or_default();
        let name = passwd.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
        });
        User {
            uid,
            name: name.unwrap_or_else(|| uid.to_string()),
            groups,
        }
    }
}

/// A group of `/etc/group`.
struct Group {
    name: String,
    members: Vec<String>,
}

impl Group {
    fn with_id(root: &Path, gid: u32) -> Option<Self> {
        let text = fs::read_to_string(root.join("etc/group")).ok()?;
        text.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?.to_owned();
            if fields.nth(1)?.parse() != Ok(gid) {
                return None;
            }
            let members = fields.next().unwrap_or_default().split(',');
            Some(Group {
                name,
                members: members.map(str::to_owned).collect(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::chown;

    use ferrowave_hip_abi::hipError_t;

    use super::*;
    use crate::hip::HipError;

    /// An MI300X; the user `ann`, 1000, is in the groups 1000 and 44; the files belong to the group `render`, 109 where the
    /// tests may change it.
    struct Machine {
        _folder: tempfile::TempDir,
        system: System,
        gid: u32,
    }

    fn denied(_: &Path) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn machine(target: u32) -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let write = |file: &str, text: &str| {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let properties =
            format!("simd_count 1216\ngfx_target_version {target}\ndrm_render_minor 128\n");
        write("sys/class/kfd/kfd/topology/nodes/1/properties", &properties);
        write("dev/kfd", "");
        write("dev/dri/renderD128", "");
        for file in ["dev/kfd", "dev/dri/renderD128"] {
            // Only root may; the group is then that of the test, which is not root's.
            let _ = chown(root.join(file), None, Some(109));
        }
        let gid = group_and_mode(&fs::metadata(root.join("dev/kfd")).unwrap()).0;
        write(
            "proc/self/status",
            "Name:\tferrowave\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t44 1000\n",
        );
        write(
            "etc/passwd",
            "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000:Ann:/home/ann:/bin/sh\n",
        );
        write("etc/group", &format!("video:x:44:ann\nrender:x:{gid}:\n"));
        let system = System {
            root: root.to_owned(),
            open: |_| Ok(()),
            variable: |_| None,
        };
        Machine {
            _folder: folder,
            system,
            gid,
        }
    }

    fn no_device() -> Unusable {
        Unusable::Hip(HipError {
            code: hipError_t::hipErrorNoDevice,
            name: "hipErrorNoDevice".into(),
            function: "hipInit",
            detail: None,
        })
    }

    #[test]
    fn a_computer_without_a_gpu_has_no_troubles() {
        let folder = tempfile::tempdir().unwrap();
        let mut system = machine(90_402).system;
        system.root = folder.path().to_owned();
        assert!(!system.has_gpu());
        assert_eq!(system.troubles(&Unusable::NoDevice), []);
        assert_eq!(system.warning(&no_device()), None);
    }

    #[test]
    fn a_missing_group_is_named_with_the_repair() {
        let mut machine = machine(90_402);
        machine.system.open = denied;
        let gid = machine.gid;
        let group = |members: &str| {
            let text = format!("video:x:44:ann\nrender:x:{gid}:{members}\n");
            fs::write(machine.system.root.join("etc/group"), text).unwrap();
            machine.system.troubles(&no_device())
        };
        // The files of the device and of the renderer have the same trouble.
        let [trouble] = &group("ann")[..] else {
            panic!("one trouble");
        };
        assert_eq!(
            trouble.what,
            "user `ann` may not open /dev/kfd, which belongs to the group `render`"
        );
        assert!(trouble.repair.contains("log in again"), "{trouble}");
        assert!(!trouble.repair.contains("usermod"), "{trouble}");
        assert_eq!(
            group("bob")[0].repair,
            "run `sudo usermod -aG render ann` and log in again"
        );
        // The names of a container.
        let nameless = machine.system.root.join("etc/group");
        fs::write(nameless, "video:x:44:\n").unwrap();
        let troubles = machine.system.access();
        assert_eq!(
            troubles[0].to_string(),
            format!(
                "user `ann` may not open /dev/kfd, which belongs to the group {gid}: a container must be started with \
                 --group-add {gid}"
            )
        );
        let warning = machine.system.warning(&no_device()).unwrap();
        assert!(
            warning.starts_with(
                "warning: this computer has an AMD GPU (gfx942), but HIP cannot use it"
            )
        );
        assert!(warning.contains("--group-add"));
    }

    #[test]
    fn what_a_container_lacks_is_said() {
        let mut machine = machine(90_402);
        fs::remove_file(machine.system.root.join("dev/dri/renderD128")).unwrap();
        let troubles = machine.system.access();
        assert_eq!(
            troubles[0].what,
            "the driver lists a GPU, but /dev/dri/renderD128 is missing"
        );
        assert!(troubles[0].repair.contains("--device=/dev/dri"));
        // Its rules forbid what the permissions allow.
        machine.system.open = denied;
        let status = machine.system.root.join("proc/self/status");
        fs::write(status, "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0\n").unwrap();
        let troubles = machine.system.access();
        assert_eq!(
            troubles[0].what,
            "/dev/kfd may not be opened here, though its permissions allow it"
        );
    }

    #[test]
    fn what_hip_lacks_is_said() {
        let (mut machine, radeon) = (machine(90_402), machine(100_300));
        let all = |system: &System, reason: Unusable| -> Vec<String> {
            let troubles = system.troubles(&reason);
            troubles.iter().map(Trouble::to_string).collect()
        };
        let missing = Unusable::Load(LoadError::NotFound { tried: Vec::new() });
        let text = &all(&machine.system, missing.clone())[..];
        assert!(text.len() == 1 && text[0].ends_with("name its library in FERROWAVE_HIP_LIBRARY"));
        let old = Unusable::Load(LoadError::MissingFunction {
            library: "libamdhip64.so.5".into(),
            version: Some("5.7".to_owned()),
            function: "hipGetDevicePropertiesR0600",
        });
        assert_eq!(
            all(&machine.system, old),
            [
                "`libamdhip64.so.5` lacks the function hipGetDevicePropertiesR0600, as it is HIP 5.7; ROCm 6.0 or later has it: install a newer ROCm"
            ]
        );
        let text = &all(&machine.system, Unusable::NoDevice)[..];
        assert_eq!(text.len(), 1);
        assert!(text[0].contains("rocminfo"));
        machine.system.variable = |name| (name == "ROCR_VISIBLE_DEVICES").then(|| "7".into());
        assert_eq!(
            all(&machine.system, Unusable::NoDevice),
            [
                "HIP finds no device that works: HIP found no device: ROCR_VISIBLE_DEVICES=7 hides devices: unset it"
            ]
        );
        let none = Unusable::NoKernels("HIP's device is gfx1030".to_owned());
        assert_eq!(all(&machine.system, none), [] as [String; 0]);
        // Nothing is printed about a GPU that there are no kernels for.
        assert!(machine.system.warning(&missing).is_some());
        assert_eq!(radeon.system.warning(&missing), None);
    }
}
