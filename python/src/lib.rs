//! The Python module `ferrowave`: devices, code objects and kernels on NumPy arrays, with the emulator's checks, counters and
//! timing model. `ferrowave/_native.pyi` has its types, `docs/python.md` describes it.

mod arguments;
mod device;
mod error;
mod observed;
mod results;

use ferrowave::embedded;
use ferrowave_gpu::Gpu;
use pyo3::{prelude::*, types::PyBytes};

use error::ArgumentError;

/// The code object with Ferrowave's own matrix products for a GPU.
#[pyfunction]
fn kernels<'py>(py: Python<'py>, gpu: &str) -> PyResult<Bound<'py, PyBytes>> {
    let known: Gpu = gpu
        .parse()
        .map_err(|error| ArgumentError::new_err(format!("{error}")))?;
    let object = embedded::code_object(known.name()).ok_or_else(|| {
        let built: Vec<_> = embedded::gpus().iter().map(|gpu| gpu.name()).collect();
        ArgumentError::new_err(format!(
            "the kernels are built for {}, not for {known}",
            built.join(", ")
        ))
    })?;
    Ok(PyBytes::new(py, object))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", py.get_type::<error::Error>())?;
    module.add("ArgumentError", py.get_type::<ArgumentError>())?;
    module.add("KernelFault", py.get_type::<error::KernelFault>())?;
    module.add_class::<device::Device>()?;
    module.add_class::<device::Module>()?;
    module.add_class::<device::Kernel>()?;
    module.add_class::<results::Findings>()?;
    module.add_class::<results::Profile>()?;
    module.add_class::<results::Timing>()?;
    module.add_function(wrap_pyfunction!(kernels, module)?)?;
    module.add_function(wrap_pyfunction!(observed::set_checks, module)?)?;
    module.add_function(wrap_pyfunction!(observed::take_findings, module)?)
}
