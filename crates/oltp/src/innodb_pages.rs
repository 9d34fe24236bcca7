//! Check of InnoDB's pages in the files of a stopped server, without the server.
//!
//! MariaDB from 10.5 on ends each page with the CRC-32C of all that is before it (`full_crc32`). A
//! page of which a power cut has stored a part does not fit its checksum. Before the server's
//! recovery, such pages are those that it has to restore from the doublewrite buffer.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes of a page.
const PAGE: usize = 16 << 10;
/// Pages read at once.
const AT_ONCE: usize = 64;
/// Bytes of the checksum at the end of a page.
const CHECKSUM: usize = 4;
/// Place of a tablespace's flags in its first page, their part with format and page size, and its
/// value: `full_crc32`, pages of 16 KiB.
const FLAGS: usize = 54;
const FORMAT: u32 = 0x1F;
const FULL_CRC32: u32 = 0x15;
/// Page of the system tablespace that names the doublewrite buffer, the places of its mark and of
/// the first pages of its two parts, and the pages of each part.
const SYSTEM: &str = "ibdata1";
const NAMING: u64 = 5;
const MARK: usize = PAGE - 190;
const MARKED: u32 = 536_853_855;
const PARTS: [usize; 2] = [PAGE - 186, PAGE - 182];
const PART: u32 = 64;

/// Pages examined, and those that do not fit their checksum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageCheck {
    /// Pages with content.
    pub pages: u64,
    /// Those of them that are broken.
    pub broken: u64,
    /// Pages left out: those of the doublewrite buffer.
    pub left_out: Vec<Range<u64>>,
}

/// Check all whole pages of a tablespace's file, apart from the doublewrite buffer: a torn page
/// there does no harm.
///
/// # Errors
/// The file cannot be read, or its pages have another format.
pub fn check_pages(path: &Path) -> io::Result<PageCheck> {
    let (file, tables) = (File::open(path)?, tables());
    let mut found = PageCheck { left_out: doublewrite_buffer(path, &file)?, ..PageCheck::default() };
    let mut buffer = vec![0; AT_ONCE * PAGE];
    for first in (0..).step_by(AT_ONCE) {
        let length = fill(&file, first, &mut buffer)?;
        if first == 0 && length >= PAGE {
            check_format(&buffer[..PAGE])?;
        }
        for (number, page) in (first..).zip(buffer[..length].chunks_exact(PAGE)) {
            if found.left_out.iter().any(|part| part.contains(&number)) || page.iter().all(|&byte| byte == 0) {
                continue;
            }
            let (content, checksum) = page.split_at(PAGE - CHECKSUM);
            found.pages += 1;
            found.broken += u64::from(crc32c(&tables, content).to_be_bytes() != *checksum);
        }
        if length < buffer.len() {
            break;
        }
    }
    Ok(found)
}

/// Return the number at a place of a page.
fn number_at(page: &[u8], place: usize) -> u32 {
    page[place..place + 4].iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// Require the format of pages that is known here.
fn check_format(first: &[u8]) -> io::Result<()> {
    if first.iter().all(|&byte| byte == 0) || number_at(first, FLAGS) & FORMAT == FULL_CRC32 {
        return Ok(());
    }
    let message = "its pages are not of 16 KiB with `innodb_checksum_algorithm = full_crc32`";
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

/// Return the pages of the doublewrite buffer in the system tablespace; no other file has one.
fn doublewrite_buffer(path: &Path, file: &File) -> io::Result<Vec<Range<u64>>> {
    let mut page = vec![0; PAGE];
    let is_system = path.file_name().is_some_and(|name| name == SYSTEM);
    if !is_system || fill(file, NAMING, &mut page)? < PAGE || number_at(&page, MARK) != MARKED {
        return Ok(Vec::new());
    }
    let part = |place| u64::from(number_at(&page, place))..u64::from(number_at(&page, place).saturating_add(PART));
    Ok(PARTS.into_iter().map(part).collect())
}

/// Read from a page on until the buffer is full or the file ends; return the bytes read.
fn fill(file: &File, page: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let (from, mut length) = (page * PAGE as u64, 0);
    while length < buffer.len() {
        match file.read_at(&mut buffer[length..], from + length as u64)? {
            0 => break,
            read => length += read,
        }
    }
    Ok(length)
}

type Tables = [[u32; 256]; 8];

/// Return the tables of CRC-32C (Castagnoli), for eight bytes at a time.
fn tables() -> Box<Tables> {
    let mut tables = Box::new([[0; 256]; 8]);
    for byte in 0..256_u32 {
        let fold = |value: u32, _| if value & 1 == 1 { value >> 1 ^ 0x82F6_3B78 } else { value >> 1 };
        tables[0][byte as usize] = (0..8).fold(byte, fold);
    }
    for step in 1..8 {
        for byte in 0..256 {
            let before = tables[step - 1][byte];
            tables[step][byte] = before >> 8 ^ tables[0][(before & 0xFF) as usize];
        }
    }
    tables
}

fn crc32c(tables: &Tables, bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let value = u64::from_le_bytes(*word) ^ u64::from(crc);
        crc = (0..8).fold(0, |crc, at| crc ^ tables[7 - at][(value >> (8 * at) & 0xFF) as usize]);
    }
    !rest.iter().fold(crc, |crc, &byte| crc >> 8 ^ tables[0][((crc ^ u32::from(byte)) & 0xFF) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc_has_the_published_check_value() {
        assert_eq!(crc32c(&tables(), b"123456789"), 0xE306_9283);
        assert_eq!(crc32c(&tables(), &[0; 32]), 0x8A91_36AA);
    }

    /// Page with its checksum, after a change.
    fn page(byte: u8, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
        let mut page = vec![byte; PAGE - CHECKSUM];
        page[FLAGS..FLAGS + 4].copy_from_slice(&FULL_CRC32.to_be_bytes());
        change(&mut page);
        page.extend(crc32c(&tables(), &page).to_be_bytes());
        page
    }

    fn checked(name: &str, content: &[u8]) -> io::Result<PageCheck> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(name), content).expect("a file");
        check_pages(&folder.path().join(name))
    }

    fn counts(name: &str, content: &[u8]) -> (u64, u64) {
        let found = checked(name, content).expect("it reads");
        (found.pages, found.broken)
    }

    #[test]
    fn torn_page_is_broken_and_a_hole_is_none() {
        let whole = |byte| page(byte, |_| ());
        for (begin, end) in [(0, 4096), (4096, 8192), (12_288, PAGE), (PAGE - 512, PAGE)] {
            let mut torn = whole(1);
            torn[begin..end].copy_from_slice(&whole(2)[begin..end]);
            let pages = [whole(1), vec![0; PAGE], torn, whole(3), vec![1; 100]].concat();
            assert_eq!(counts("t.ibd", &pages), (3, 1));
        }
        let pages = (AT_ONCE * 2 + 1) as u64;
        let many = whole(7).repeat(AT_ONCE * 2 + 1);
        assert_eq!(counts("t.ibd", &many), (pages, 0));
        assert_eq!(checked("t.ibd", &[]).expect("it reads"), PageCheck::default());
    }

    #[test]
    fn torn_page_in_the_doublewrite_buffer_does_not_count() {
        let naming = page(5, |page| {
            page[MARK..MARK + 4].copy_from_slice(&MARKED.to_be_bytes());
            page[PARTS[0]..PARTS[0] + 4].copy_from_slice(&6_u32.to_be_bytes());
            page[PARTS[1]..PARTS[1] + 4].copy_from_slice(&100_u32.to_be_bytes());
        });
        let torn = vec![9; PAGE];
        let mut pages = page(1, |_| ()).repeat(200);
        for (number, content) in [(5, &naming), (6, &torn), (69, &torn), (70, &torn), (163, &torn), (164, &torn)] {
            pages[number * PAGE..(number + 1) * PAGE].copy_from_slice(content);
        }
        let buffer = 2 * u64::from(PART);
        assert_eq!(counts("ibdata1", &pages), (200 - buffer, 2));
        assert_eq!(counts("t.ibd", &pages), (200, 5));
    }

    #[test]
    fn pages_of_another_format_are_refused() {
        let old = page(1, |page| page[FLAGS..FLAGS + 4].fill(0));
        let error = checked("t.ibd", &old).expect_err("another format");
        assert!(error.to_string().contains("full_crc32"), "{error}");
    }
}
