//! Files in memory, and pages of the host. Only Linux has such files; elsewhere, and in Miri, every function fails.

pub(super) use host::*;

#[cfg(all(target_os = "linux", not(miri)))]
mod host {
    use std::{
        ffi::c_int,
        fs::File,
        io,
        os::{
            fd::{AsRawFd, FromRawFd, IntoRawFd},
            unix::fs::{FileExt, MetadataExt},
        },
        ptr,
    };

    use libc::{MAP_ANONYMOUS, MAP_FAILED, MAP_FIXED, MAP_NORESERVE, MAP_PRIVATE, MAP_SHARED};

    /// Seals of all files here: access behind the end of a file that was cut would end the process.
    const SEALS: c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

    fn owned(descriptor: c_int) -> io::Result<File> {
        match descriptor {
            // SAFETY: the callers pass a descriptor that they have just made.
            0.. => Ok(unsafe { File::from_raw_fd(descriptor) }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Zeroed pages. They may be more than the host has: a program that allocates most of a GPU's memory need not touch it.
    pub(in crate::memory) fn pages(bytes: usize) -> io::Result<u64> {
        // SAFETY: without MAP_FIXED, the host chooses addresses that nothing uses.
        let found = unsafe { libc::mmap(ptr::null_mut(), bytes, ACCESS, NOTHING, -1, 0) };
        match found == MAP_FAILED {
            true => Err(io::Error::last_os_error()),
            false => Ok(found.expose_provenance() as u64),
        }
    }

    /// The descriptor and the number of a file.
    pub(in crate::memory) fn identity(file: &File) -> io::Result<(c_int, u64)> {
        Ok((file.as_raw_fd(), file.metadata()?.ino()))
    }

    /// The file of [`create`] that another process has open; an error if it has closed it.
    pub(in crate::memory) fn open(process: u32, descriptor: c_int, inode: u64) -> io::Result<File> {
        let path = format!("/proc/{process}/fd/{descriptor}");
        let file = File::options().read(true).write(true).open(path)?;
        match file.metadata()?.ino() == inode {
            true => sealed(file),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(in crate::memory) fn write(file: &File, offset: usize, bytes: &[u8]) -> io::Result<()> {
        file.write_all_at(bytes, offset as u64)
    }

    /// A file in memory.
    pub(in crate::memory) fn create(bytes: usize) -> io::Result<File> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: the name is a C string.
        let file = owned(unsafe { libc::memfd_create(c"ferrowave".as_ptr(), flags) })?;
        file.set_len(bytes as u64)?;
        // SAFETY: the descriptor is open.
        match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) } {
            0 => Ok(file),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The file of [`create`] that a descriptor is open for; an error for any other file.
    pub(in crate::memory) fn import(descriptor: c_int) -> io::Result<File> {
        // SAFETY: the call takes any number.
        let file = owned(unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) })?;
        sealed(file)
    }

    fn sealed(file: File) -> io::Result<File> {
        // SAFETY: the descriptor is open.
        match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) } {
            SEALS => Ok(file),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    pub(in crate::memory) fn share(file: &File) -> io::Result<c_int> {
        Ok(file.try_clone()?.into_raw_fd())
    }

    const ACCESS: c_int = libc::PROT_READ | libc::PROT_WRITE;
    /// Memory that takes no room until it is written.
    const NOTHING: c_int = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

    pub(in crate::memory) fn reserve(
        bytes: usize,
        alignment: usize,
        wanted: u64,
    ) -> io::Result<u64> {
        let too_many = || io::Error::from(io::ErrorKind::OutOfMemory);
        let all = bytes.checked_add(alignment).ok_or_else(too_many)?;
        let hint = ptr::with_exposed_provenance_mut(wanted as usize);
        // SAFETY: without MAP_FIXED, the host chooses addresses that nothing uses.
        let found = unsafe { libc::mmap(hint, all, ACCESS, NOTHING, -1, 0) };
        if found == MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let found = found.expose_provenance();
        let start = found.next_multiple_of(alignment);
        // SAFETY: both parts belong to the new addresses, and nothing uses them yet.
        unsafe {
            free(found as u64, start - found);
            free((start + bytes) as u64, found + all - start - bytes);
        }
        Ok(start as u64)
    }

    /// # Safety
    /// The addresses are from [`reserve`], and nothing refers to them.
    pub(in crate::memory) unsafe fn free(start: u64, bytes: usize) {
        if bytes > 0 {
            // SAFETY: the caller guarantees it.
            unsafe { libc::munmap(ptr::with_exposed_provenance_mut(start as usize), bytes) };
        }
    }

    /// Maps a file's first bytes, or nothing.
    ///
    /// # Safety
    /// The addresses are from [`reserve`], and Rust has no references to them.
    pub(in crate::memory) unsafe fn map(
        start: u64,
        bytes: usize,
        file: Option<&File>,
    ) -> io::Result<()> {
        let start = ptr::with_exposed_provenance_mut(start as usize);
        let flags = MAP_FIXED | file.map_or(NOTHING, |_| MAP_SHARED);
        // SAFETY: the caller guarantees it.
        let found = unsafe {
            let file = file.map_or(-1, AsRawFd::as_raw_fd);
            libc::mmap(start, bytes, ACCESS, flags, file, 0)
        };
        match found == MAP_FAILED {
            true => Err(io::Error::last_os_error()),
            false => Ok(()),
        }
    }
}

#[cfg(any(not(target_os = "linux"), miri))]
mod host {
    use std::{ffi::c_int, fs::File, io};

    pub(in crate::memory) fn create(_bytes: usize) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::memory) fn import(_descriptor: c_int) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::memory) fn share(_file: &File) -> io::Result<c_int> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::memory) fn reserve(
        _bytes: usize,
        _alignment: usize,
        _wanted: u64,
    ) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::memory) unsafe fn free(_start: u64, _bytes: usize) {}

    pub(in crate::memory) unsafe fn map(
        _start: u64,
        _bytes: usize,
        _file: Option<&File>,
    ) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::memory) fn pages(_bytes: usize) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::memory) fn identity(_file: &File) -> io::Result<(c_int, u64)> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::memory) fn open(
        _process: u32,
        _descriptor: c_int,
        _inode: u64,
    ) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::memory) fn write(_file: &File, _offset: usize, _bytes: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
