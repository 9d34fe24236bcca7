//! Hints for memory that is looked up at random: prefetches and large pages.

/// Prefetch an element into the processor's caches.
#[inline]
pub(crate) fn prefetch<T>(of: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = of.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and can't fault, and the element exists.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (of, index);
}

/// Prefetch every cache line of an element.
#[inline]
pub(crate) fn prefetch_all<T>(of: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = of.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first: *const i8 = std::ptr::from_ref(element).cast();
        for offset in (0..size_of::<T>()).step_by(64) {
            // SAFETY: as above.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (of, index);
}

/// Advise the system to back a vector with large pages, which save page-table walks.
///
/// Call it before the vector is filled: pages that were touched stay small. Untouched memory stays
/// unused, except for the rest of a large page.
#[allow(clippy::ptr_arg, reason = "the advice covers the vector's capacity")]
pub(crate) fn advise_large_pages<T>(memory: &Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        const LARGE: usize = 2 << 20;
        let first = memory.as_ptr().addr();
        let (begin, end) =
            (first.next_multiple_of(LARGE), (first + memory.capacity() * size_of::<T>()) / LARGE * LARGE);
        if begin < end {
            // SAFETY: the range belongs to the vector alone; advice changes neither contents nor
            // rights.
            unsafe { libc::madvise(begin as *mut libc::c_void, end - begin, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}
