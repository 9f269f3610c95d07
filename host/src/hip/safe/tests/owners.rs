//! What owners keep alive, release and reject.

use std::{thread, time::Duration};

use ferrowave_hip::DeviceConfig;

use super::*;

#[test]
fn a_device_says_what_it_is_and_why_in_one_line() {
    let device = Device::open(&"emulator:gfx908".parse().unwrap()).unwrap();
    assert_eq!(
        device.choice(),
        "emulator:gfx908: AMD Instinct MI100 (gfx908, emulated by Ferrowave), as asked for"
    );
    let properties = device.properties();
    assert_eq!(
        (properties.gpu(), properties.compute_units),
        (Some(Gpu::Gfx908), 120)
    );
    assert_eq!(properties.target, "gfx908:sramecc+:xnack-");
    assert_eq!(properties.max_grid, [2_147_483_647, 65536, 65536]);
    assert!(device.is_emulated());
    assert_ne!(
        device,
        Device::open(&"emulator:gfx908".parse().unwrap()).unwrap()
    );
    assert_eq!(device, device.clone());
}

#[test]
fn buffers_check_their_lengths() {
    let context = context(Gpu::Gfx942);
    let mut buffer = context.upload(&[1.0_f64, 2.0, 3.0]).unwrap();
    assert_eq!(
        (buffer.len(), buffer.bytes(), buffer.is_empty()),
        (3, 24, false)
    );
    let error = buffer.copy_from_host(&[0.0; 4]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot copy 4 elements to 3; the lengths must be equal"
    );
    let error = buffer.copy_to_host(&mut [0.0; 2]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot copy 3 elements to 2; the lengths must be equal"
    );
    assert_eq!(buffer.to_vec().unwrap(), [1.0, 2.0, 3.0]);

    let mut copy = context.allocate(3).unwrap();
    copy.copy_from(&buffer).unwrap();
    assert_eq!(copy.to_vec().unwrap(), [1.0, 2.0, 3.0]);
    let mut short = context.allocate::<f64>(2).unwrap();
    assert_eq!(
        short.copy_from(&copy),
        Err(BufferError::Length { from: 3, to: 2 })
    );
    let mut elsewhere = super::context(Gpu::Gfx942).allocate::<f64>(3).unwrap();
    assert!(matches!(
        elsewhere.copy_from(&copy),
        Err(BufferError::OtherDevice { .. })
    ));

    let empty = context.upload::<u8>(&[]).unwrap();
    assert_eq!(
        (empty.address(), empty.is_empty(), empty.to_vec().unwrap()),
        (0, true, vec![])
    );
    let error = context.allocate::<u64>(usize::MAX / 4).unwrap_err();
    assert!(matches!(
        error,
        BufferError::TooLarge {
            element_bytes: 8,
            ..
        }
    ));
}

#[test]
fn what_is_dropped_is_given_back() {
    let config = DeviceConfig {
        memory_bytes: Some(1 << 20),
        ..DeviceConfig::new(Gpu::Gfx942)
    };
    let context = Context::new(&Device::emulator(config).unwrap()).unwrap();
    let free = || context.memory_info().unwrap().free_bytes;
    assert_eq!(
        context.memory_info().unwrap(),
        MemoryInfo {
            free_bytes: 1 << 20,
            total_bytes: 1 << 20
        }
    );
    let buffer = context.allocate::<u8>(1000).unwrap();
    assert_eq!(free(), (1 << 20) - 1000);
    let error = context.allocate::<u8>(1 << 20).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("hipErrorOutOfMemory (2): out of memory: "),
        "{error}"
    );
    drop(buffer);
    assert_eq!(free(), 1 << 20);

    // A kernel keeps its module loaded.
    let kernel = context
        .load(code_object(Gpu::Gfx942))
        .unwrap()
        .kernel("lds")
        .unwrap();
    assert!(free() < 1 << 20);
    assert_eq!(kernel.occupancy(64, 15 << 10), Ok(4));
    drop(kernel);
    assert_eq!(free(), 1 << 20);
    assert_eq!(context.take_drop_errors(), []);
}

#[test]
fn drops_that_fail_are_recorded() {
    let context = context(Gpu::Gfx942);
    let buffer = context.allocate::<u8>(8).unwrap();
    // SAFETY: the buffer is no longer used, only dropped.
    unsafe { context.device().api().free(buffer.address()) }.unwrap();
    drop(buffer);
    let errors = context.take_drop_errors();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        (errors[0].function, &*errors[0].name),
        ("hipFree", "hipErrorInvalidValue")
    );
    assert_eq!(context.take_drop_errors(), []);
}

/// Code must stay loaded while a kernel may still run. So the drop waits, and its error is that of the kernel.
#[test]
fn a_module_waits_for_its_kernels_before_it_goes() {
    let context = context(Gpu::Gfx942);
    let kernel = context
        .load(code_object(Gpu::Gfx942))
        .unwrap()
        .kernel("add")
        .unwrap();
    let stream = context.stream().unwrap();
    let nowhere = Arguments::new().value(8_u64).value(8_u64).value(0_u32);
    // SAFETY: the emulator stops the kernel at its first access.
    unsafe { kernel.launch(&stream, &groups(1), &nowhere) }.unwrap();
    drop(kernel);
    let errors = context.take_drop_errors();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        (errors[0].function, &*errors[0].name),
        ("hipDeviceSynchronize", "hipErrorIllegalAddress")
    );
}

#[test]
fn modules_for_other_gpus_are_refused_with_both_names() {
    let context = context(Gpu::Gfx942);
    let error = context.load(code_object(Gpu::Gfx90a)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the code object is for gfx90a, but the device is gfx942:sramecc+:xnack-"
    );
    let error = context.load(&assemble(Gpu::Gfx942, "+xnack")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the code object is for gfx942:xnack+, but the device is gfx942:sramecc+:xnack-"
    );
    context
        .load(&assemble(Gpu::Gfx942, "-xnack,+sramecc"))
        .unwrap();
}

#[test]
fn broken_code_objects_are_refused_before_hip_sees_them() {
    let context = context(Gpu::Gfx942);
    let good = code_object(Gpu::Gfx942);
    for length in (0..good.len()).step_by(101) {
        let error = context.load(&good[..length]).map(drop).unwrap_err();
        assert!(
            matches!(error, ModuleError::CodeObject(_)),
            "{length}: {error}"
        );
    }
}

#[test]
fn names_that_are_not_there_come_with_those_that_are() {
    let context = context(Gpu::Gfx942);
    let module = context.load(code_object(Gpu::Gfx942)).unwrap();
    let error = |name| module.kernel(name).unwrap_err().to_string();
    assert_eq!(
        error("sub"),
        "no kernel `sub` in the module, which has add, lds"
    );
    assert_eq!(
        error("a\0dd"),
        "no kernel `a\0dd` in the module, which has add, lds"
    );
    assert_eq!(module.variable("table").unwrap().1, 16);
    assert_eq!(
        module.variable("add"),
        Err(ModuleError::NoVariable {
            name: "add".to_owned()
        })
    );
}

#[test]
fn events_give_times_in_both_forms() {
    let context = context(Gpu::Gfx942);
    let stream = context.stream().unwrap();
    let (start, stop) = (context.event().unwrap(), context.event().unwrap());
    assert!(
        start
            .duration_since(&stop)
            .unwrap_err()
            .to_string()
            .contains("never recorded")
    );
    start.record(&stream).unwrap();
    thread::sleep(Duration::from_millis(5));
    stop.record(&stream).unwrap();
    stream.wait(&stop).unwrap();
    stop.synchronize().unwrap();
    assert!(stop.is_done().unwrap() && stream.is_done().unwrap());
    let (milliseconds, duration) = (
        stop.milliseconds_since(&start).unwrap(),
        stop.duration_since(&start).unwrap(),
    );
    assert!(duration >= Duration::from_millis(5), "{duration:?}");
    assert_eq!(
        duration.as_nanos(),
        (f64::from(milliseconds) * 1e6).round() as u128
    );
    assert_eq!(start.milliseconds_since(&stop), Ok(-milliseconds));
    assert_eq!(start.duration_since(&stop), Ok(Duration::ZERO));
}

/// Owners may be used and dropped on other threads than the one that created them, each thread with its own device.
#[test]
fn owners_work_on_any_thread() {
    let contexts = [context(Gpu::Gfx90a), context(Gpu::Gfx942)];
    let buffers = contexts
        .each_ref()
        .map(|context| context.upload(&[context.device().ordinal()]).unwrap());
    let threads = buffers.map(|mut buffer| {
        thread::spawn(move || {
            for _ in 0..100 {
                assert_eq!(
                    buffer.to_vec().unwrap(),
                    [buffer.context().device().ordinal()]
                );
                let copy = buffer.context().upload(&buffer.to_vec().unwrap()).unwrap();
                buffer.copy_from(&copy).unwrap();
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    for context in contexts {
        let MemoryInfo {
            free_bytes,
            total_bytes,
        } = context.memory_info().unwrap();
        assert_eq!(free_bytes, total_bytes);
        assert_eq!(context.take_drop_errors(), []);
    }
}
