import CHaulShims

/// How the allocator of this process behaves (mallopt(3)).
package enum ProcessMemory {
    /// Keeps freed memory for the next allocation instead of giving it back to the kernel at once.
    ///
    /// Every transfer has a large buffer for as long as it runs; given back each time, it would be mapped and zeroed
    /// again for each small file. A choice for a whole process, so not for a library to make.
    package static func keepFreed(upTo bytes: Int32) { haul_keep_freed_memory(bytes) }
}
