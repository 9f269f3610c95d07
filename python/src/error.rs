//! Python's exceptions.

use ferrowave_host::hip::HipError;
use ferrowave_launch::Failure;
use pyo3::{create_exception, exceptions::PyException, prelude::*};

create_exception!(
    ferrowave,
    Error,
    PyException,
    "What Ferrowave cannot do, and why."
);
create_exception!(
    ferrowave,
    ArgumentError,
    Error,
    "A wrong argument: the message names it and what is allowed."
);
create_exception!(
    ferrowave,
    KernelFault,
    Error,
    "A kernel that was ended: by an access out of bounds, a failed assertion, a limit. `report` says where and why, `code` \
     is HIP's error."
);

/// The functions that wait for a kernel, and so return its errors.
const WAITS: [&str; 3] = [
    "hipStreamSynchronize",
    "hipDeviceSynchronize",
    "hipMemcpyDtoH",
];

/// The exception of a failure.
pub(crate) fn exception(py: Python<'_>, failure: &Failure) -> PyErr {
    let text = failure.to_string();
    let error = match failure {
        Failure::Usage(_) => return ArgumentError::new_err(text),
        Failure::Failed(error) => error,
    };
    match error
        .downcast_ref::<HipError>()
        .filter(|error| WAITS.contains(&error.function))
    {
        Some(hip) => {
            let fault = KernelFault::new_err(text);
            let report = hip.detail.as_deref().or(hip.meaning()).unwrap_or_default();
            let value = fault.value(py);
            match value
                .setattr("report", report)
                .and_then(|()| value.setattr("code", &*hip.name))
            {
                Ok(()) => fault,
                Err(error) => error,
            }
        }
        None => Error::new_err(text),
    }
}
