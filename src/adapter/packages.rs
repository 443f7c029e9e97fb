//! A table of the Debian packages that contain well-known headers and libraries.

/// Prefixes of included names, and the packages of these headers (Debian 12).
const HEADERS: &[(&str, &str)] = &[
    ("absl/", "libabsl-dev"),
    ("atomic_ops", "libatomic-ops-dev"),
    ("atomic_queue/", "libatomic-queue-dev"),
    ("atomicops.h", "libreaderwriterqueue-dev"),
    ("boost/", "libboost-dev"),
    ("cds/", "libcds-dev"),
    ("ck_", "libck-dev"),
    ("concurrentqueue/", "libconcurrentqueue-dev"),
    ("leveldb/", "libleveldb-dev"),
    ("libcuckoo/", "libcuckoo-dev"),
    ("lmdb.h", "liblmdb-dev"),
    ("numa.h", "libnuma-dev"),
    ("numaif.h", "libnuma-dev"),
    ("oneapi/tbb", "libtbb-dev"),
    ("readerwritercircularbuffer.h", "libreaderwriterqueue-dev"),
    ("readerwriterqueue.h", "libreaderwriterqueue-dev"),
    ("readerwriterqueue/", "libreaderwriterqueue-dev"),
    ("rocksdb/", "librocksdb-dev"),
    ("sqlite3.h", "libsqlite3-dev"),
    ("tbb/", "libtbb-dev"),
    ("tkrzw_", "libtkrzw-dev"),
    ("urcu", "liburcu-dev"),
    ("uv.h", "libuv1-dev"),
    ("wiredtiger", "libwiredtiger-dev"),
    ("xenium/", "libxenium-dev"),
];

/// Names after `-l`, and the packages of these libraries.
const LIBRARIES: &[(&str, &str)] = &[
    ("atomic_ops", "libatomic-ops-dev"),
    ("boost_thread", "libboost-thread-dev"),
    ("cds", "libcds-dev"),
    ("ck", "libck-dev"),
    ("leveldb", "libleveldb-dev"),
    ("lmdb", "liblmdb-dev"),
    ("numa", "libnuma-dev"),
    ("rocksdb", "librocksdb-dev"),
    ("sqlite3", "libsqlite3-dev"),
    ("tbb", "libtbb-dev"),
    ("tkrzw", "libtkrzw-dev"),
    ("urcu", "liburcu-dev"),
    ("urcu-bp", "liburcu-dev"),
    ("urcu-cds", "liburcu-dev"),
    ("urcu-mb", "liburcu-dev"),
    ("urcu-memb", "liburcu-dev"),
    ("urcu-qsbr", "liburcu-dev"),
    ("uv", "libuv1-dev"),
    ("wiredtiger", "libwiredtiger-dev"),
];

/// The package of the header with this name, if it is known.
pub fn of_header(header: &str) -> Option<&'static str> {
    HEADERS.iter().find(|(prefix, _)| header.starts_with(prefix)).map(|&(_, package)| package)
}

/// The package of the library that is linked as `-l` and this name, if it is known.
pub fn of_library(library: &str) -> Option<&'static str> {
    LIBRARIES.iter().find(|(name, _)| *name == library).map(|&(_, package)| package)
}

/// Advice for a header that was not found.
pub fn advice_for_header(header: &str) -> String {
    match of_header(header) {
        Some(package) => format!("apt-get install {package}, or pass -I DIR if you have it"),
        None => {
            let file = header.rsplit('/').next().unwrap_or(header);
            format!("if it is in a Debian package: apt-file search {file}; else pass -I DIR")
        }
    }
}

/// Advice for a library that was not found.
pub fn advice_for_library(library: &str) -> String {
    match of_library(library) {
        Some(package) => format!("apt-get install {package}, or pass --cflag -LDIR if you have it"),
        None => format!(
            "if it is in a Debian package: apt-file search lib{library}.so; \
             else pass --cflag -LDIR"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found_by_prefix() {
        assert_eq!(of_header("boost/lockfree/queue.hpp"), Some("libboost-dev"));
        assert_eq!(of_header("readerwriterqueue.h"), Some("libreaderwriterqueue-dev"));
        assert_eq!(of_header("urcu/rculfqueue.h"), Some("liburcu-dev"));
        assert_eq!(of_header("my_boost/queue.hpp"), None);
    }

    #[test]
    fn advice_names_the_package_or_how_to_find_it() {
        assert!(advice_for_header("cds/init.h").contains("apt-get install libcds-dev"));
        assert!(advice_for_header("folly/MPMCQueue.h").contains("apt-file search MPMCQueue.h"));
        assert!(advice_for_library("wiredtiger").contains("apt-get install libwiredtiger-dev"));
        assert!(advice_for_library("mine").contains("apt-file search libmine.so"));
    }

    #[test]
    fn no_prefix_hides_a_later_one() {
        for (at, (prefix, package)) in HEADERS.iter().enumerate() {
            let first = HEADERS.iter().position(|(other, _)| prefix.starts_with(other));
            assert_eq!(first, Some(at), "{prefix} of {package}");
        }
    }
}
