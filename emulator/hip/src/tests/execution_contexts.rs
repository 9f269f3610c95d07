//! Execution contexts: parts of a device's compute units.

use super::*;

const INVALID: hipError_t = hipError_t::hipErrorInvalidValue;
const UNFIT: hipError_t = hipError_t::hipErrorInvalidResourceConfiguration;
const SM: hipDevResourceType = hipDevResourceType::hipDevResourceTypeSm;

/// All compute units of a device.
fn all(device: &TestDevice) -> hipDevResource {
    // SAFETY: the result pointer is valid.
    result(|resource| unsafe { hipDeviceGetDevResource(device.0, resource, SM) })
}

fn count(resource: &hipDevResource) -> c_uint {
    resource.sm.smCount
}

/// Groups of `least` compute units, and the rest.
fn by_count(all: &hipDevResource, groups: usize, least: c_uint) -> (Vec<hipDevResource>, c_uint) {
    let mut parts = vec![hipDevResource::ZERO; groups];
    let (mut made, mut rest) = (groups as c_uint, hipDevResource::ZERO);
    let result = parts.as_mut_ptr();
    // SAFETY: there is room for that many groups.
    succeeds(unsafe { hipDevSmResourceSplitByCount(result, &mut made, all, &mut rest, 0, least) });
    parts.truncate(made as usize);
    (parts, count(&rest))
}

fn describe(parts: &mut [hipDevResource]) -> (hipError_t, hipDevResourceDesc_t) {
    let mut description = ptr::null_mut();
    let length = parts.len() as c_uint;
    // SAFETY: the list has that length.
    let code = unsafe { hipDevResourceGenerateDesc(&mut description, parts.as_mut_ptr(), length) };
    (code, description)
}

#[test]
fn compute_units_are_split() {
    // 104 and 304 compute units.
    for (gpu, units) in [(Gpu::Gfx90a, 104), (Gpu::Gfx942, 304)] {
        let device = TestDevice::new(gpu);
        let all = all(&device);
        let sm = all.sm;
        assert_eq!((sm.smCount, sm.minSmPartitionSize), (units, 2));
        let (parts, rest) = by_count(&all, 2, 15);
        assert_eq!(parts.iter().map(count).collect::<Vec<_>>(), [16, 16]);
        assert_eq!(rest, units - 32);
        // No more than there are; a part can be split again.
        let (parts, rest) = by_count(&all, 9, units / 2);
        assert_eq!((parts.len(), rest), (2, 0));
        let (halves, rest) = by_count(&parts[1], 2, 2);
        assert_eq!((halves.len(), rest), (2, units / 2 - 4));
        let (none, rest) = by_count(&all, 1, units + 1);
        assert_eq!((none.len(), rest), (0, units));
        // SAFETY: nulls, or valid places.
        unsafe {
            let mut groups = 0;
            let null = ptr::null_mut();
            let mut split = |flags, least| {
                hipDevSmResourceSplitByCount(null, &mut groups, &all, null, flags, least)
            };
            succeeds(split(0, 0));
            fails(
                split(1, 4),
                hipError_t::hipErrorNotSupported,
                "flags are 0x1",
            );
            assert_eq!(groups, units / 2);
            // A resource that the program has changed.
            let mut changed = all;
            changed.sm.smCount = c_uint::MAX;
            let many = hipDevSmResourceSplitByCount(null, &mut groups, &changed, null, 0, 1);
            fails(many, UNFIT, "4294967295 compute units from 0 on");
            let nothing = hipDevResource::ZERO;
            let wrong = hipDevSmResourceSplitByCount(null, &mut groups, &nothing, null, 0, 2);
            fails(
                wrong,
                hipError_t::hipErrorInvalidResourceType,
                "kind of resource is 0",
            );
        }
    }
}

#[test]
fn compute_units_are_split_into_groups_of_different_sizes() {
    let device = TestDevice::new(Gpu::Gfx90a);
    let all = all(&device);
    let group = |count, flags| hipDevSmResourceGroupParams {
        smCount: count,
        flags,
        ..hipDevSmResourceGroupParams::ZERO
    };
    let split = |groups: &mut [hipDevSmResourceGroupParams]| {
        let mut parts = vec![hipDevResource::ZERO; groups.len()];
        let mut rest = hipDevResource::ZERO;
        let (length, place) = (groups.len() as c_uint, parts.as_mut_ptr());
        // SAFETY: the lists have that length.
        let code = unsafe {
            hipDevSmResourceSplit(place, length, &all, &mut rest, 0, groups.as_mut_ptr())
        };
        (
            code,
            parts.iter().map(count).collect::<Vec<_>>(),
            count(&rest),
        )
    };
    // The last one gets what is left; the caller is told.
    let mut groups = [group(10, 0), group(7, 1), group(0, 0)];
    let (code, parts, rest) = split(&mut groups);
    succeeds(code);
    assert_eq!((parts, rest), (vec![10, 7, 86], 1));
    assert_eq!((groups[2].smCount, groups[2].coscheduledSmCount), (86, 2));
    for wrong in [group(7, 0), group(106, 0), group(1, 1)] {
        let (code, parts, _) = split(&mut [group(2, 0), wrong]);
        fails(code, UNFIT, "group 1");
        assert_eq!(parts, [0, 0]);
    }
}

#[test]
fn contexts_have_streams_that_work_together() {
    let device = TestDevice::new(Gpu::Gfx90a);
    let (mut parts, _) = by_count(&all(&device), 2, 34);
    let (code, description) = describe(&mut parts[1..]);
    succeeds(code);
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        let context = result(|context| hipGreenCtxCreate(context, description, device.0, 0));
        let own = result(|context| hipDeviceGetExecutionCtx(context, device.0));
        assert_eq!(
            result(|context| hipDeviceGetExecutionCtx(context, device.0)),
            own
        );
        let id = |context| result(|id| hipExecutionCtxGetId(context, id));
        assert_ne!(id(context), id(own));
        assert_eq!(
            result(|device| hipExecutionCtxGetDevice(device, context)),
            device.0
        );
        let of = |context| count(&result(|of| hipExecutionCtxGetDevResource(context, of, SM)));
        assert_eq!((of(context), of(own)), (34, 104));

        let stream = |flags, priority| -> hipStream_t {
            result(|stream| hipExecutionCtxStreamCreate(stream, context, flags, priority))
        };
        let streams = [stream(0, 0), stream(1, -5)];
        let units = |stream| count(&result(|of| hipStreamGetDevResource(stream, of, SM)));
        assert_eq!(streams.map(units), [34, 34]);
        assert_eq!(units(ptr::null_mut()), 104);
        let mut mask = [0; 4];
        succeeds(hipExtStreamGetCUMask(streams[0], 4, mask.as_mut_ptr()));
        assert_eq!(mask, [0, !3, 0xf, 0]);
        fails(
            hipExecutionCtxStreamCreate(&mut ptr::null_mut(), context, 2, 0),
            INVALID,
            "flags are 0x2",
        );
        let unknown = hipDevResourceType::hipDevResourceTypeWorkqueue;
        fails(
            hipStreamGetDevResource(streams[0], &mut parts[0], unknown),
            hipError_t::hipErrorInvalidResourceType,
            "10000",
        );

        // The event comes after the work of both, and work that waits for it after that.
        let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
        let data = [buffer(&[1; 64]), buffer(&[2; 64])];
        let add = |to: usize, from: usize, stream| {
            let words = [data[to].addr() as u64, data[from].addr() as u64, 1];
            let words = words.map(u64::to_le_bytes);
            let launch = Launch {
                function,
                grid: [1; 3],
                block: [64, 1, 1],
                lds_bytes: 0,
                stream,
                arguments: words.as_flattened(),
            };
            succeeds(launch.run());
        };
        add(0, 0, streams[0]);
        add(1, 1, streams[1]);
        let event = result(|event| hipEventCreate(event));
        succeeds(hipExecutionCtxRecordEvent(context, event));
        succeeds(hipEventSynchronize(event));
        assert_eq!(
            (contents(data[0], 1), contents(data[1], 1)),
            (vec![2], vec![3])
        );
        succeeds(hipExecutionCtxWaitEvent(context, event));
        add(0, 1, streams[0]);
        succeeds(hipExecutionCtxSynchronize(context));
        assert_eq!(contents(data[0], 1), [4]);
        // A destroyed stream is none of its streams, and the context of a stream may go.
        succeeds(hipStreamDestroy(streams[1]));
        succeeds(hipExecutionCtxRecordEvent(context, event));
        succeeds(hipExecutionCtxDestroy(context));
        fails(
            hipExecutionCtxSynchronize(context),
            hipError_t::hipErrorInvalidHandle,
            "execution context",
        );
        succeeds(hipStreamSynchronize(streams[0]));
        fails(
            hipExecutionCtxDestroy(own),
            INVALID,
            "own execution context",
        );
        succeeds(hipExecutionCtxSynchronize(own));
    }
}

#[test]
fn contexts_have_resources_of_one_device_and_split() {
    let device = TestDevice::new(Gpu::Gfx90a);
    let other = TestDevice::new(Gpu::Gfx90a);
    let split = |device| by_count(&all(device), 2, 8).0;
    let mine = split(&device);
    let (code, description) = describe(&mut mine.clone());
    succeeds(code);
    // SAFETY: the result pointers are valid, and have room for both resources.
    unsafe {
        let context = result(|context| hipGreenCtxCreate(context, description, device.0, 0));
        let mut both = [hipDevResource::ZERO; 2];
        succeeds(hipExecutionCtxGetDevResource(
            context,
            both.as_mut_ptr(),
            SM,
        ));
        assert_eq!(both.each_ref().map(count), [8, 8]);
        let next = both
            .each_ref()
            .map(|resource| resource.nextResource.cast_const());
        assert_eq!(next, [&raw const both[1], ptr::null()]);
        fails(
            hipGreenCtxCreate(&mut ptr::null_mut(), description, 99, 0),
            hipError_t::hipErrorInvalidDevice,
            "99",
        );
        fails(
            hipGreenCtxCreate(&mut ptr::null_mut(), description, device.0, 1),
            INVALID,
            "0x1",
        );
    }
    let again = split(&device)[0];
    for mut wrong in [[mine[0], split(&other)[1]], [mine[0], again]] {
        fails(describe(&mut wrong).0, UNFIT, "not parts of one split");
    }
    let kind = hipDevResourceType::hipDevResourceTypeWorkqueueConfig;
    let queue = hipDevResource {
        r#type: kind,
        ..hipDevResource::ZERO
    };
    let refused = hipError_t::hipErrorInvalidResourceType;
    fails(describe(&mut [queue]).0, refused, "1000");
    fails(describe(&mut []).0, INVALID, "0 resources");
}
