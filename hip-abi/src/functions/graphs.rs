//! Graphs: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_graphs {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Creates an empty graph. `flags` must be 0.
            optional fn hipGraphCreate(
                graph: *mut $crate::hipGraph_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Destroys a graph and its nodes.
            optional fn hipGraphDestroy(graph: $crate::hipGraph_t) -> $crate::hipError_t;
            /// Copies a graph.
            optional fn hipGraphClone(
                graph_clone: *mut $crate::hipGraph_t,
                original_graph: $crate::hipGraph_t,
            ) -> $crate::hipError_t;
            /// The node of a cloned graph that corresponds to a node. `hipErrorInvalidValue` if there is none.
            optional fn hipGraphNodeFindInClone(
                node: *mut $crate::hipGraphNode_t,
                original_node: $crate::hipGraphNode_t,
                cloned_graph: $crate::hipGraph_t,
            ) -> $crate::hipError_t;
            /// Removes a node and its dependencies from its graph.
            optional fn hipGraphDestroyNode(node: $crate::hipGraphNode_t) -> $crate::hipError_t;
            /// Adds a node that does nothing.
            optional fn hipGraphAddEmptyNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
            ) -> $crate::hipError_t;
            /// Adds a kernel launch; the kernel is a program's stub or a module's kernel.
            optional fn hipGraphAddKernelNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                node_params: *const $crate::hipKernelNodeParams,
            ) -> $crate::hipError_t;
            /// Adds an allocation, and returns its address in `dptr`. The memory exists from when the node has run
            /// until a node or a call frees it.
            optional fn hipGraphAddMemAllocNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                node_params: *mut $crate::hipMemAllocNodeParams,
            ) -> $crate::hipError_t;
            /// The parameters of an allocation node, including the address.
            optional fn hipGraphMemAllocNodeGetParams(
                node: $crate::hipGraphNode_t,
                node_params: *mut $crate::hipMemAllocNodeParams,
            ) -> $crate::hipError_t;
            /// Adds a free of memory that a node allocates.
            optional fn hipGraphAddMemFreeNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                dev_ptr: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// As `hipGraphAddMemFreeNode`.
            optional fn hipDrvGraphAddMemFreeNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                dptr: $crate::hipDeviceptr_t,
            ) -> $crate::hipError_t;
            /// Writes the address that a node frees to `*dev_ptr`.
            optional fn hipGraphMemFreeNodeGetParams(
                node: $crate::hipGraphNode_t,
                dev_ptr: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// The memory that graphs use or have reserved. `value` points to a 64-bit integer.
            optional fn hipDeviceGetGraphMemAttribute(
                device: ::core::ffi::c_int,
                attr: $crate::hipGraphMemAttributeType,
                value: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Resets one of the two maxima to the current value. `value` must point to 0.
            optional fn hipDeviceSetGraphMemAttribute(
                device: ::core::ffi::c_int,
                attr: $crate::hipGraphMemAttributeType,
                value: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Releases memory that graphs have reserved and do not use.
            optional fn hipDeviceGraphMemTrim(device: ::core::ffi::c_int) -> $crate::hipError_t;
            /// Adds a copy described by a struct; arrays are not supported.
            optional fn hipGraphAddMemcpyNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                copy_params: *const $crate::hipMemcpy3DParms,
            ) -> $crate::hipError_t;
            /// Adds a linear copy.
            optional fn hipGraphAddMemcpyNode1D(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                dst: *mut ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                count: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// Adds a copy from a program's device variable.
            optional fn hipGraphAddMemcpyNodeFromSymbol(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                dst: *mut ::core::ffi::c_void,
                symbol: *const ::core::ffi::c_void,
                count: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// Adds a copy to a program's device variable.
            optional fn hipGraphAddMemcpyNodeToSymbol(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                symbol: *const ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                count: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// Adds a copy described by a struct; arrays are not supported. `ctx` may be null.
            optional fn hipDrvGraphAddMemcpyNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                copy_params: *const $crate::HIP_MEMCPY3D,
                ctx: $crate::hipCtx_t,
            ) -> $crate::hipError_t;
            /// Adds a memset of `height` rows of `width` elements of 1, 2 or 4 bytes.
            optional fn hipGraphAddMemsetNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                memset_params: *const $crate::hipMemsetParams,
            ) -> $crate::hipError_t;
            /// As `hipGraphAddMemsetNode`. `ctx` may be null.
            optional fn hipDrvGraphAddMemsetNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                memset_params: *const $crate::HIP_MEMSET_NODE_PARAMS,
                ctx: $crate::hipCtx_t,
            ) -> $crate::hipError_t;
            /// Adds a call of a host function.
            optional fn hipGraphAddHostNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                node_params: *const $crate::hipHostNodeParams,
            ) -> $crate::hipError_t;
            /// Adds another graph, in its current state, as a child graph.
            optional fn hipGraphAddChildGraphNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                child_graph: $crate::hipGraph_t,
            ) -> $crate::hipError_t;
            /// Adds a node that records an event.
            optional fn hipGraphAddEventRecordNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                event: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// Adds a node that waits for an event.
            optional fn hipGraphAddEventWaitNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                event: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// Adds dependencies between nodes. `hipErrorInvalidValue` if a node would depend on itself.
            optional fn hipGraphAddDependencies(
                graph: $crate::hipGraph_t,
                from: *const $crate::hipGraphNode_t,
                to: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
            ) -> $crate::hipError_t;
            /// Removes dependencies.
            optional fn hipGraphRemoveDependencies(
                graph: $crate::hipGraph_t,
                from: *const $crate::hipGraphNode_t,
                to: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
            ) -> $crate::hipError_t;
            /// A graph's nodes, up to the capacity in `num_nodes`; only their number if `nodes` is null.
            optional fn hipGraphGetNodes(
                graph: $crate::hipGraph_t,
                nodes: *mut $crate::hipGraphNode_t,
                num_nodes: *mut usize,
            ) -> $crate::hipError_t;
            /// A graph's nodes without dependencies, as `hipGraphGetNodes`.
            optional fn hipGraphGetRootNodes(
                graph: $crate::hipGraph_t,
                root_nodes: *mut $crate::hipGraphNode_t,
                num_root_nodes: *mut usize,
            ) -> $crate::hipError_t;
            /// A graph's dependencies, as `hipGraphGetNodes`.
            optional fn hipGraphGetEdges(
                graph: $crate::hipGraph_t,
                from: *mut $crate::hipGraphNode_t,
                to: *mut $crate::hipGraphNode_t,
                num_edges: *mut usize,
            ) -> $crate::hipError_t;
            /// The type of a graph node.
            optional fn hipGraphNodeGetType(
                node: $crate::hipGraphNode_t,
                kind: *mut $crate::hipGraphNodeType,
            ) -> $crate::hipError_t;
            /// The nodes that a node depends on, as `hipGraphGetNodes`.
            optional fn hipGraphNodeGetDependencies(
                node: $crate::hipGraphNode_t,
                dependencies: *mut $crate::hipGraphNode_t,
                num_dependencies: *mut usize,
            ) -> $crate::hipError_t;
            /// The nodes that depend on a node, as `hipGraphGetNodes`.
            optional fn hipGraphNodeGetDependentNodes(
                node: $crate::hipGraphNode_t,
                dependent_nodes: *mut $crate::hipGraphNode_t,
                num_dependent_nodes: *mut usize,
            ) -> $crate::hipError_t;
            /// The parameters of a kernel node. The arguments are the graph's copies, valid until the node changes.
            optional fn hipGraphKernelNodeGetParams(
                node: $crate::hipGraphNode_t,
                node_params: *mut $crate::hipKernelNodeParams,
            ) -> $crate::hipError_t;
            /// Changes a kernel launch.
            optional fn hipGraphKernelNodeSetParams(
                node: $crate::hipGraphNode_t,
                node_params: *const $crate::hipKernelNodeParams,
            ) -> $crate::hipError_t;
            /// Changes a copy.
            optional fn hipGraphMemcpyNodeSetParams(
                node: $crate::hipGraphNode_t,
                node_params: *const $crate::hipMemcpy3DParms,
            ) -> $crate::hipError_t;
            /// Changes a copy to a linear copy.
            optional fn hipGraphMemcpyNodeSetParams1D(
                node: $crate::hipGraphNode_t,
                dst: *mut ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                count: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// Changes a copy.
            optional fn hipDrvGraphMemcpyNodeSetParams(
                node: $crate::hipGraphNode_t,
                node_params: *const $crate::HIP_MEMCPY3D,
            ) -> $crate::hipError_t;
            /// The parameters of a memset node.
            optional fn hipGraphMemsetNodeGetParams(
                node: $crate::hipGraphNode_t,
                node_params: *mut $crate::hipMemsetParams,
            ) -> $crate::hipError_t;
            /// Changes a memset.
            optional fn hipGraphMemsetNodeSetParams(
                node: $crate::hipGraphNode_t,
                node_params: *const $crate::hipMemsetParams,
            ) -> $crate::hipError_t;
            /// The parameters of a host function node.
            optional fn hipGraphHostNodeGetParams(
                node: $crate::hipGraphNode_t,
                node_params: *mut $crate::hipHostNodeParams,
            ) -> $crate::hipError_t;
            /// Changes a host function call.
            optional fn hipGraphHostNodeSetParams(
                node: $crate::hipGraphNode_t,
                node_params: *const $crate::hipHostNodeParams,
            ) -> $crate::hipError_t;
            /// The graph of a child graph node, for inspection.
            optional fn hipGraphChildGraphNodeGetGraph(
                node: $crate::hipGraphNode_t,
                graph: *mut $crate::hipGraph_t,
            ) -> $crate::hipError_t;
            /// The event that a node records.
            optional fn hipGraphEventRecordNodeGetEvent(
                node: $crate::hipGraphNode_t,
                event_out: *mut $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// Changes the event that a node records.
            optional fn hipGraphEventRecordNodeSetEvent(
                node: $crate::hipGraphNode_t,
                event: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// The event that a node waits for.
            optional fn hipGraphEventWaitNodeGetEvent(
                node: $crate::hipGraphNode_t,
                event_out: *mut $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// Changes the event that a node waits for.
            optional fn hipGraphEventWaitNodeSetEvent(
                node: $crate::hipGraphNode_t,
                event: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// Instantiates a graph in its current state. The log stays empty.
            optional fn hipGraphInstantiate(
                graph_exec: *mut $crate::hipGraphExec_t,
                graph: $crate::hipGraph_t,
                error_node: *mut $crate::hipGraphNode_t,
                log_buffer: *mut ::core::ffi::c_char,
                buffer_size: usize,
            ) -> $crate::hipError_t;
            /// As `hipGraphInstantiate`. `hipErrorInvalidValue` for unknown flags.
            optional fn hipGraphInstantiateWithFlags(
                graph_exec: *mut $crate::hipGraphExec_t,
                graph: $crate::hipGraph_t,
                flags: u64,
            ) -> $crate::hipError_t;
            /// Accepted; has no effect.
            optional fn hipGraphUpload(
                graph_exec: $crate::hipGraphExec_t,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Launches a graph in a stream.
            optional fn hipGraphLaunch(
                graph_exec: $crate::hipGraphExec_t,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Destroys an executable graph; launches that have begun continue.
            optional fn hipGraphExecDestroy(graph_exec: $crate::hipGraphExec_t) -> $crate::hipError_t;
            /// The flags that a graph was instantiated with.
            optional fn hipGraphExecGetFlags(
                graph_exec: $crate::hipGraphExec_t,
                flags: *mut u64,
            ) -> $crate::hipError_t;
            /// Updates an executable graph with the parameters of a graph of the same topology.
            /// `hipErrorGraphExecUpdateFailure` if the topology differs; the results, which may be null, say where and
            /// why.
            optional fn hipGraphExecUpdate(
                graph_exec: $crate::hipGraphExec_t,
                graph: $crate::hipGraph_t,
                error_node_out: *mut $crate::hipGraphNode_t,
                update_result_out: *mut $crate::hipGraphExecUpdateResult,
            ) -> $crate::hipError_t;
            /// Changes a kernel launch of an executable graph. `node` is the original graph's node.
            optional fn hipGraphExecKernelNodeSetParams(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                node_params: *const $crate::hipKernelNodeParams,
            ) -> $crate::hipError_t;
            /// Changes a copy of an executable graph.
            optional fn hipGraphExecMemcpyNodeSetParams(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                node_params: *mut $crate::hipMemcpy3DParms,
            ) -> $crate::hipError_t;
            /// Changes a copy of an executable graph to a linear copy.
            optional fn hipGraphExecMemcpyNodeSetParams1D(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                dst: *mut ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                count: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// Changes a copy of an executable graph. `ctx` may be null.
            optional fn hipDrvGraphExecMemcpyNodeSetParams(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                copy_params: *const $crate::HIP_MEMCPY3D,
                ctx: $crate::hipCtx_t,
            ) -> $crate::hipError_t;
            /// Changes a memset of an executable graph.
            optional fn hipGraphExecMemsetNodeSetParams(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                node_params: *const $crate::hipMemsetParams,
            ) -> $crate::hipError_t;
            /// Changes a memset of an executable graph. `ctx` may be null.
            optional fn hipDrvGraphExecMemsetNodeSetParams(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                memset_params: *const $crate::HIP_MEMSET_NODE_PARAMS,
                ctx: $crate::hipCtx_t,
            ) -> $crate::hipError_t;
            /// Changes a host function call of an executable graph.
            optional fn hipGraphExecHostNodeSetParams(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                node_params: *const $crate::hipHostNodeParams,
            ) -> $crate::hipError_t;
            /// Changes the event that a node of an executable graph records.
            optional fn hipGraphExecEventRecordNodeSetEvent(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                event: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// Changes the event that a node of an executable graph waits for.
            optional fn hipGraphExecEventWaitNodeSetEvent(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                event: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// Adds a node of the kind that the struct names.
            optional fn hipGraphAddNode(
                graph_node: *mut $crate::hipGraphNode_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                num_dependencies: usize,
                node_params: *mut $crate::hipGraphNodeParams,
            ) -> $crate::hipError_t;
            /// Changes a node of the kind that the struct names.
            optional fn hipGraphNodeSetParams(
                node: $crate::hipGraphNode_t,
                node_params: *mut $crate::hipGraphNodeParams,
            ) -> $crate::hipError_t;
            /// Changes a node of an executable graph, of the kind that the struct names.
            optional fn hipGraphExecNodeSetParams(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                node_params: *mut $crate::hipGraphNodeParams,
            ) -> $crate::hipError_t;
            /// Sets an attribute of a kernel node: `hipLaunchAttributeAccessPolicyWindow` (1), `Cooperative` (2) or
            /// `Priority` (8). The value has the attribute's type.
            optional fn hipGraphKernelNodeSetAttribute(
                node: $crate::hipGraphNode_t,
                attribute: ::core::ffi::c_uint,
                value: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// The attribute of a kernel node. `hipErrorInvalidValue` if another one was set.
            optional fn hipGraphKernelNodeGetAttribute(
                node: $crate::hipGraphNode_t,
                attribute: ::core::ffi::c_uint,
                value: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Copies a kernel node's attributes. `hipErrorInvalidContext` if the other node has different ones.
            optional fn hipGraphKernelNodeCopyAttributes(
                source: $crate::hipGraphNode_t,
                destination: $crate::hipGraphNode_t,
            ) -> $crate::hipError_t;
            /// Enables or disables a node of an executable graph. A disabled node does nothing.
            optional fn hipGraphNodeSetEnabled(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                is_enabled: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Whether a node of an executable graph is enabled.
            optional fn hipGraphNodeGetEnabled(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                is_enabled: *mut ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Replaces a copy by one from a program's device variable.
            optional fn hipGraphMemcpyNodeSetParamsFromSymbol(
                node: $crate::hipGraphNode_t,
                dst: *mut ::core::ffi::c_void,
                symbol: *const ::core::ffi::c_void,
                count: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// Replaces a copy by one to a program's device variable.
            optional fn hipGraphMemcpyNodeSetParamsToSymbol(
                node: $crate::hipGraphNode_t,
                symbol: *const ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                count: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipGraphMemcpyNodeSetParamsFromSymbol`, in an executable graph.
            optional fn hipGraphExecMemcpyNodeSetParamsFromSymbol(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                dst: *mut ::core::ffi::c_void,
                symbol: *const ::core::ffi::c_void,
                count: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipGraphMemcpyNodeSetParamsToSymbol`, in an executable graph.
            optional fn hipGraphExecMemcpyNodeSetParamsToSymbol(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                symbol: *const ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                count: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// A copy's parameters.
            optional fn hipGraphMemcpyNodeGetParams(
                node: $crate::hipGraphNode_t,
                node_params: *mut $crate::hipMemcpy3DParms,
            ) -> $crate::hipError_t;
            /// A copy's parameters in the driver's form.
            optional fn hipDrvGraphMemcpyNodeGetParams(
                node: $crate::hipGraphNode_t,
                node_params: *mut $crate::HIP_MEMCPY3D,
            ) -> $crate::hipError_t;
            /// Replaces a child graph in an executable graph. `hipErrorUnknown` if its nodes or dependencies differ.
            optional fn hipGraphExecChildGraphNodeSetParams(
                graph_exec: $crate::hipGraphExec_t,
                node: $crate::hipGraphNode_t,
                child_graph: $crate::hipGraph_t,
            ) -> $crate::hipError_t;
            /// As `hipGraphInstantiateWithFlags`, with flags and result in a struct.
            optional fn hipGraphInstantiateWithParams(
                graph_exec: *mut $crate::hipGraphExec_t,
                graph: $crate::hipGraph_t,
                instantiate_params: *mut $crate::hipGraphInstantiateParams,
            ) -> $crate::hipError_t;
            /// Begins a capture into an existing graph, after some of its nodes. `dependency_data` must be null.
            optional fn hipStreamBeginCaptureToGraph(
                stream: $crate::hipStream_t,
                graph: $crate::hipGraph_t,
                dependencies: *const $crate::hipGraphNode_t,
                dependency_data: *const $crate::hipGraphEdgeData,
                num_dependencies: usize,
                mode: $crate::hipStreamCaptureMode,
            ) -> $crate::hipError_t;
            /// Writes a graph to a file for Graphviz. `hipErrorOperatingSystem` if the file cannot be written.
            optional fn hipGraphDebugDotPrint(
                graph: $crate::hipGraph_t,
                path: *const ::core::ffi::c_char,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Creates a user object: `destroy` is called with `ptr` when its last reference is gone. `flags` must be 1.
            optional fn hipUserObjectCreate(
                object_out: *mut $crate::hipUserObject_t,
                ptr: *mut ::core::ffi::c_void,
                destroy: $crate::hipHostFn_t,
                initial_refcount: ::core::ffi::c_uint,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Releases references to a user object.
            optional fn hipUserObjectRelease(
                object: $crate::hipUserObject_t,
                count: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Adds references to a user object.
            optional fn hipUserObjectRetain(
                object: $crate::hipUserObject_t,
                count: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Gives a graph references to a user object: new ones, or with flag 1 the caller's.
            optional fn hipGraphRetainUserObject(
                graph: $crate::hipGraph_t,
                object: $crate::hipUserObject_t,
                count: ::core::ffi::c_uint,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Releases references of a graph.
            optional fn hipGraphReleaseUserObject(
                graph: $crate::hipGraph_t,
                object: $crate::hipUserObject_t,
                count: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
        }
    };
}
