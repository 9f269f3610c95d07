//! HIP's functions as functions that return their result or a [`HipError`].

mod calls;

use std::{borrow::Cow, ffi::CStr, fmt};

use ferrowave_hip_abi::hipError_t;

use super::Api;

/// A HIP function that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HipError {
    /// The code that it returned.
    pub code: hipError_t,
    /// HIP's name of the code; the library's, if the code is unknown here.
    pub name: Cow<'static, str>,
    /// The function.
    pub function: &'static str,
    /// What exactly was wrong, if the implementation of HIP can tell.
    pub detail: Option<String>,
}

impl HipError {
    /// What the code means, in words; `None` if it is unknown here.
    pub fn meaning(&self) -> Option<&'static str> {
        self.code.row().and_then(|row| row.meaning.to_str().ok())
    }
}

impl fmt::Display for HipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HipError {
            code,
            name,
            function,
            detail,
        } = self;
        write!(f, "{function} failed with {name} ({})", code.0)?;
        if let Some(meaning) = self.meaning() {
            write!(f, ": {meaning}")?;
        }
        if let Some(detail) = detail {
            write!(f, ": {detail}")?;
        }
        Ok(())
    }
}

impl std::error::Error for HipError {}

impl Api {
    /// Makes a result of the code that `function` returned. Must be called right after it: the detail is that of the
    /// thread's last error.
    fn check(&self, function: &'static str, code: hipError_t) -> Result<(), HipError> {
        if code == hipError_t::hipSuccess {
            return Ok(());
        }
        Err(HipError {
            code,
            name: self.error_name(code),
            function,
            detail: self.last_error_detail(),
        })
    }

    fn error_name(&self, code: hipError_t) -> Cow<'static, str> {
        if let Some(name) = code.row().and_then(|row| row.name.to_str().ok()) {
            return name.into();
        }
        // SAFETY: it takes no pointers.
        let name = unsafe { (self.functions().hipGetErrorName)(code) };
        if name.is_null() {
            return "an unknown error".into();
        }
        // SAFETY: HIP returns static C strings.
        let name = unsafe { CStr::from_ptr(name) };
        name.to_string_lossy().into_owned().into()
    }

    /// What was wrong in this thread's last failed call, if the implementation of HIP can tell.
    fn last_error_detail(&self) -> Option<String> {
        let function = self.functions().ferrowaveGetLastErrorDetail?;
        // SAFETY: null with a length of 0 only asks for the text's length.
        let length = unsafe { function(std::ptr::null_mut(), 0) };
        let mut text = vec![0_u8; length.checked_add(1)?];
        // SAFETY: the vector has that many bytes.
        unsafe { function(text.as_mut_ptr().cast(), text.len()) };
        text.truncate(length);
        let text = String::from_utf8_lossy(&text).into_owned();
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hip::fake;

    #[test]
    fn an_error_names_function_code_and_meaning() {
        let api = fake::api(fake::FUNCTIONS);
        let error = api.init().unwrap_err();
        assert_eq!(error.code, hipError_t::hipErrorNotSupported);
        assert_eq!(
            error.to_string(),
            "hipInit failed with hipErrorNotSupported (801): operation not supported"
        );
    }

    #[test]
    fn a_code_that_is_unknown_here_goes_by_the_librarys_name() {
        let api = fake::api(fake::FUNCTIONS);
        let error = api.check("hipFly", hipError_t(5555)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "hipFly failed with hipErrorFromTheLibrary (5555)"
        );
        assert_eq!(error.detail, None);
    }

    #[cfg(feature = "emulator")]
    #[test]
    fn the_emulator_says_exactly_what_was_wrong() {
        let api = Api::emulator().unwrap();
        // SAFETY: an address that is no allocation is refused.
        let error = unsafe { api.free(16) }.unwrap_err();
        assert_eq!(
            error.to_string(),
            "hipFree failed with hipErrorInvalidValue (1): invalid argument: \
             0x10 is not from hipMalloc or hipHostMalloc, or was freed before"
        );
    }
}
