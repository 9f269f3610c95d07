//! AMD's code object manager, `libamd_comgr.so`: a C library that contains clang, LLVM's linker and the device
//! libraries.
//!
//! Source of names and numbers: `amd_comgr.h` of versions 2.8 and 3.0, which number actions and languages differently.

use std::{
    ffi::{CStr, CString, OsString, c_char, c_int},
    ptr,
    sync::{LazyLock, Mutex, PoisonError},
};

use libloading::Library;

use super::libraries;

/// Environment variable: the library's path, if it is not in the default places.
pub(super) const VARIABLE: &str = "FERROWAVE_COMGR";

const NAMES: [&str; 3] = ["libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"];

/// A kind of data: `amd_comgr_data_kind_t`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct Kind(c_int);

impl Kind {
    pub(super) const SOURCE: Self = Kind(1);
    pub(super) const INCLUDE: Self = Kind(2);
    pub(super) const LOG: Self = Kind(5);
    pub(super) const BITCODE: Self = Kind(6);
    pub(super) const EXECUTABLE: Self = Kind(8);
    pub(super) const BITCODE_BUNDLE: Self = Kind(0x12);
    pub(super) const ARCHIVE_OF_BUNDLES: Self = Kind(0x13);
}

/// An action on all data of a set: `amd_comgr_action_kind_t`.
#[derive(Clone, Copy)]
pub(super) enum Action {
    /// HIP source and the device libraries to bitcode.
    SourceToBitcode,
    /// HIP source and the device libraries to an object file.
    SourceToRelocatable,
    LinkBitcode,
    BitcodeToRelocatable,
    RelocatableToExecutable,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Handle(u64);

type Status = c_int;

macro_rules! functions {
    ($(fn $name:ident($($type:ty),*);)*) => {
        /// The functions of the library that are used.
        struct Functions {
            $($name: unsafe extern "C" fn($($type),*) -> Status,)*
        }

        impl Functions {
            /// # Safety
            /// The library is comgr, and stays loaded.
            unsafe fn find(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Functions {
                    // SAFETY: the signatures are those of `amd_comgr.h`.
                    $($name: unsafe { *library.get(concat!("amd_comgr_", stringify!($name), "\0").as_bytes())? },)*
                })
            }
        }
    };
}

functions! {
    fn create_data(Kind, *mut Handle);
    fn release_data(Handle);
    fn set_data(Handle, usize, *const c_char);
    fn set_data_name(Handle, *const c_char);
    fn get_data(Handle, *mut usize, *mut c_char);
    fn create_data_set(*mut Handle);
    fn destroy_data_set(Handle);
    fn data_set_add(Handle, Handle);
    fn action_data_count(Handle, Kind, *mut usize);
    fn action_data_get_data(Handle, Kind, usize, *mut Handle);
    fn create_action_info(*mut Handle);
    fn destroy_action_info(Handle);
    fn action_info_set_isa_name(Handle, *const c_char);
    fn action_info_set_language(Handle, c_int);
    fn action_info_set_option_list(Handle, *const *const c_char, usize);
    fn action_info_set_logging(Handle, bool);
    fn do_action(c_int, Handle, Handle, Handle);
    fn populate_name_expression_map(Handle, *mut usize);
    fn map_name_expression_to_symbol_name(Handle, *mut usize, *const c_char, *mut c_char);
}

/// The loaded library.
pub(super) struct Comgr {
    functions: Functions,
    is_version_2: bool,
}

/// Runs one action at a time, as ROCm's hiprtc does, because LLVM's options are global to the process.
static ACTIONS: Mutex<()> = Mutex::new(());

static COMGR: LazyLock<Result<Comgr, String>> = LazyLock::new(|| {
    let named = std::env::var_os(VARIABLE);
    let places = match named {
        Some(file) => vec![file],
        None => libraries::places(&NAMES),
    };
    load(&places)
});

fn load(places: &[OsString]) -> Result<Comgr, String> {
    let library = libraries::first(places).map_err(|tried| {
        format!(
            "AMD's compiler library libamd_comgr.so, with which programs are compiled at run time, cannot be loaded. \
             Debian has it in the package libamd-comgr3, ROCm in /opt/rocm/lib; {VARIABLE} may name the file. \
             Tried:\n{tried}"
        )
    })?;
    let unfit = |error: libloading::Error| {
        format!(
            "`{}` is no libamd_comgr.so: {error}",
            library.place.display()
        )
    };
    type GetVersion = unsafe extern "C" fn(*mut usize, *mut usize);
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the function has this signature in all versions, and writes both results.
    unsafe {
        let version = library
            .library
            .get::<GetVersion>(b"amd_comgr_get_version\0");
        version.map_err(unfit)?(&mut major, &mut minor);
    }
    // SAFETY: the library has comgr's version function, and is never unloaded.
    let functions = unsafe { Functions::find(&library.library) }.map_err(unfit)?;
    if !(major == 2 && minor >= 8 || major == 3) {
        return Err(format!(
            "`{}` is version {major}.{minor} of comgr; 2.8 to 3 are known",
            library.place.display()
        ));
    }
    // The library is never unloaded: LLVM's threads and tables outlive any use of them.
    std::mem::forget(library.library);
    Ok(Comgr {
        functions,
        is_version_2: major == 2,
    })
}

/// The error of a failed call.
fn failed(what: &str, status: Status) -> String {
    let meaning = match status {
        2 => "invalid argument",
        3 => "out of resources",
        _ => "error",
    };
    format!("amd_comgr_{what}: {meaning} ({status})")
}

/// Calls a function of comgr. On failure, returns the error from the enclosing function.
macro_rules! call {
    ($comgr:expr, $name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: handles are live handles of comgr; pointers are valid for the call.
        match unsafe { ($comgr.functions.$name)($($argument),*) } {
            0 => {}
            status => return Err(failed(stringify!($name), status)),
        }
    };
}

impl Comgr {
    /// The library, loaded on first use, or why it cannot be loaded.
    pub(super) fn get() -> Result<&'static Self, String> {
        COMGR.as_ref().map_err(String::clone)
    }

    fn number(&self, action: Action) -> c_int {
        let (of_2, of_3) = match action {
            Action::SourceToBitcode => (15, 12),
            Action::SourceToRelocatable => (16, 13),
            Action::LinkBitcode => (4, 3),
            Action::BitcodeToRelocatable => (6, 4),
            Action::RelocatableToExecutable => (9, 7),
        };
        if self.is_version_2 { of_2 } else { of_3 }
    }

    fn language(&self, action: Action) -> Option<c_int> {
        let hip = if self.is_version_2 { 4 } else { 3 };
        // The other actions take compiled input.
        matches!(
            action,
            Action::SourceToBitcode | Action::SourceToRelocatable | Action::LinkBitcode
        )
        .then_some(hip)
    }

    fn data(&'static self, kind: Kind, bytes: &[u8]) -> Result<Data, String> {
        let mut handle = Handle(0);
        call!(self, create_data(kind, &mut handle));
        let data = Data(self, handle);
        call!(
            self,
            set_data(handle, bytes.len(), bytes.as_ptr().cast::<c_char>())
        );
        Ok(data)
    }

    pub(super) fn set(&'static self) -> Result<DataSet, String> {
        let mut handle = Handle(0);
        call!(self, create_data_set(&mut handle));
        Ok(DataSet(self, handle))
    }

    /// Runs an action and appends its messages to `log`. The error only names the failed action.
    pub(super) fn run(
        &'static self,
        action: Action,
        isa: &CStr,
        options: &[CString],
        input: &DataSet,
        log: &mut Vec<u8>,
    ) -> Result<DataSet, String> {
        let mut handle = Handle(0);
        call!(self, create_action_info(&mut handle));
        let info = ActionInfo(self, handle);
        if let Some(language) = self.language(action) {
            call!(self, action_info_set_language(info.1, language));
        }
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: a C string, which comgr copies.
        if unsafe { (self.functions.action_info_set_isa_name)(info.1, isa.as_ptr()) } != 0 {
            return Err(format!("the compiler knows no target {isa:?}"));
        }
        call!(
            self,
            action_info_set_option_list(info.1, options.as_ptr(), options.len())
        );
        call!(self, action_info_set_logging(info.1, true));
        let output = self.set()?;
        let status = {
            // The lock guards no data, so poisoning is ignored.
            let _one = ACTIONS.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: handles are live handles of comgr.
            unsafe { (self.functions.do_action)(self.number(action), info.1, input.1, output.1) }
        };
        if let Some(said) = output.first(Kind::LOG)? {
            log.extend_from_slice(said.trim_ascii_end());
            if !said.trim_ascii_end().is_empty() {
                log.push(b'\n');
            }
        }
        match status {
            0 => Ok(output),
            status => Err(failed("do_action", status)),
        }
    }

    /// The lowered names of the program's name expressions in a code object or bitcode. For each, the source has an
    /// array `__amdgcn_name_expr_N` with the expression's text and address.
    pub(super) fn lowered(
        &'static self,
        kind: Kind,
        bytes: &[u8],
        names: &[&CStr],
    ) -> Result<Vec<CString>, String> {
        let data = self.data(kind, bytes)?;
        let mut count = 0;
        call!(self, populate_name_expression_map(data.1, &mut count));
        let mut lowered = Vec::new();
        for name in names {
            let mut bytes = 0;
            let text = name.as_ptr();
            let size = &mut bytes;
            call!(
                self,
                map_name_expression_to_symbol_name(data.1, size, text, ptr::null_mut())
            );
            // Room for the text, and for a NUL that may follow.
            let mut buffer = vec![0_u8; bytes + 1];
            let to = buffer.as_mut_ptr().cast::<c_char>();
            let size = &mut bytes;
            call!(
                self,
                map_name_expression_to_symbol_name(data.1, size, text, to)
            );
            let end = buffer.iter().position(|&byte| byte == 0);
            buffer.truncate(end.unwrap_or(bytes));
            lowered.push(CString::new(buffer).unwrap_or_default());
        }
        Ok(lowered)
    }
}

/// A piece of data.
struct Data(&'static Comgr, Handle);

impl Drop for Data {
    fn drop(&mut self) {
        // SAFETY: created by `create_data` or returned by `action_data_get_data`, and released once.
        unsafe { (self.0.functions.release_data)(self.1) };
    }
}

/// The parameters of an action.
struct ActionInfo(&'static Comgr, Handle);

impl Drop for ActionInfo {
    fn drop(&mut self) {
        // SAFETY: created by `create_action_info`, and destroyed once.
        unsafe { (self.0.functions.destroy_action_info)(self.1) };
    }
}

/// The input or output of an action.
pub(super) struct DataSet(&'static Comgr, Handle);

impl DataSet {
    /// Adds named data.
    pub(super) fn add(&self, kind: Kind, name: &CStr, bytes: &[u8]) -> Result<(), String> {
        let data = self.0.data(kind, bytes)?;
        call!(self.0, set_data_name(data.1, name.as_ptr()));
        call!(self.0, data_set_add(self.1, data.1));
        Ok(())
    }

    /// The first data of a kind.
    pub(super) fn first(&self, kind: Kind) -> Result<Option<Vec<u8>>, String> {
        let mut count = 0;
        call!(self.0, action_data_count(self.1, kind, &mut count));
        if count == 0 {
            return Ok(None);
        }
        let mut handle = Handle(0);
        call!(self.0, action_data_get_data(self.1, kind, 0, &mut handle));
        let data = Data(self.0, handle);
        let mut length = 0;
        call!(self.0, get_data(data.1, &mut length, ptr::null_mut()));
        let mut bytes = vec![0_u8; length];
        let to = bytes.as_mut_ptr().cast::<c_char>();
        call!(self.0, get_data(data.1, &mut length, to));
        Ok(Some(bytes))
    }
}

impl Drop for DataSet {
    fn drop(&mut self) {
        // SAFETY: created by `create_data_set`, and destroyed once.
        unsafe { (self.0.functions.destroy_data_set)(self.1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(place: &str) -> String {
        load(&[place.into()]).err().expect("it is no comgr")
    }

    #[test]
    fn what_is_no_comgr_is_refused_by_name() {
        let missing = refusal("/nowhere/libamd_comgr.so.3");
        for part in [
            "libamd-comgr3",
            VARIABLE,
            "\n  /nowhere/libamd_comgr.so.3: ",
            "No such file",
        ] {
            assert!(missing.contains(part), "{missing}");
        }
        let other = refusal("libc.so.6");
        assert!(
            other.starts_with("`libc.so.6` is no libamd_comgr.so: "),
            "{other}"
        );
    }
}
