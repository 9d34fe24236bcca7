//! Control messages: one line of words each from the owner, one JSON object each in answer.

use crate::corruption::Corruption;
use serde_json::Value;
use std::io;
use std::os::fd::RawFd;
use tameshi_base::{Nanos, Slow};

/// Message of the owner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Message {
    /// Report the state.
    Status,
    /// Forget all figures so far.
    Reset,
    /// Answer at once, without the model, until `on`.
    Bypass,
    /// Switch the power on; the path adds this many nanoseconds of wall time to each answer.
    On(u64),
    /// Cut the power; with a number, as soon as a write of this many bytes is under way.
    Cut(Option<u64>),
    /// Fail a member of a stack, or all of it.
    Fail(Option<u32>),
    /// Replace a failed member.
    Replace(u32),
    /// Answer some times as late, for a time of the drive or until the next such message.
    Slow(Slow, Option<Nanos>),
    /// Lose the near side of a block mirror.
    FailOver,
    /// Bring the lost side of a block mirror back.
    TakeBack,
    /// Cut the link of a block mirror, or let it carry again.
    Link(bool),
    /// Corrupt a range: offset and length.
    Corrupt(Corruption, (u64, u64)),
    /// The owner is gone.
    Gone,
}

/// Receive a message without waiting; `None` if there is none.
pub(crate) fn receive(socket: RawFd) -> io::Result<Option<Message>> {
    let Some(text) = receive_text(socket)? else { return Ok(None) };
    parse(&text).map(Some).map_err(io::Error::other)
}

/// Receive the text of a message without waiting; it is empty if the owner is gone.
pub(crate) fn receive_text(socket: RawFd) -> io::Result<Option<String>> {
    let mut buffer = [0_u8; 64];
    // SAFETY: the buffer belongs to this function.
    let length = unsafe { libc::recv(socket, buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_DONTWAIT) };
    if length < 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => Ok(None),
            Some(libc::ECONNRESET) => Ok(Some(String::new())),
            _ => Err(error),
        };
    }
    Ok(Some(std::str::from_utf8(&buffer[..length as usize]).unwrap_or_default().into()))
}

fn parse(text: &str) -> Result<Message, String> {
    let mut words = text.split(' ');
    let word = words.next().unwrap_or_default();
    let arguments: Vec<&str> = words.collect();
    let unknown = || format!("unknown control message: {text}");
    let number = |text: &str| text.parse::<u64>().map_err(|_| unknown());
    let member = |text: &str| text.parse::<u32>().map_err(|_| unknown());
    Ok(match (word, arguments.as_slice()) {
        ("status", []) => Message::Status,
        ("reset", []) => Message::Reset,
        ("bypass", []) => Message::Bypass,
        ("on", [offset]) => Message::On(number(offset)?),
        ("cut", []) => Message::Cut(None),
        ("cut", [bytes]) => Message::Cut(Some(number(bytes)?)),
        ("fail_over", []) => Message::FailOver,
        ("take_back", []) => Message::TakeBack,
        ("link", ["cut"]) => Message::Link(false),
        ("link", ["heal"]) => Message::Link(true),
        ("fail", []) => Message::Fail(None),
        ("fail", [of]) => Message::Fail(Some(member(of)?)),
        ("replace", [of]) => Message::Replace(member(of)?),
        ("slow", [factor]) => Message::Slow(slow(factor)?, None),
        ("slow", [factor, time]) => Message::Slow(slow(factor)?, Some(number(time)?)),
        ("corrupt", [kind, offset, length]) => {
            let kind = match *kind {
                "error" => Corruption::Error,
                "flip" => Corruption::Flip,
                "misdirect" => Corruption::Misdirect,
                _ => return Err(unknown()),
            };
            Message::Corrupt(kind, (number(offset)?, number(length)?))
        }
        ("", []) => Message::Gone,
        _ => return Err(unknown()),
    })
}

fn slow(factor: &str) -> Result<Slow, String> {
    Slow::new(factor.parse().unwrap_or_default())
}

/// Send an answer.
pub(crate) fn send(socket: RawFd, answer: &Value) -> io::Result<()> {
    let text = answer.to_string();
    // SAFETY: the text is borrowed during the call, which only reads it.
    let sent = unsafe { libc::send(socket, text.as_ptr().cast(), text.len(), libc::MSG_NOSIGNAL) };
    match sent {
        0.. => Ok(()),
        // The owner is gone: the next message says so.
        _ if io::Error::last_os_error().raw_os_error() == Some(libc::EPIPE) => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_with_their_arguments() {
        let slow = |factor| Slow::new(factor).expect("a factor in range");
        let cases = [
            ("status", Message::Status),
            ("cut", Message::Cut(None)),
            ("cut 16384", Message::Cut(Some(16_384))),
            ("on 12500", Message::On(12_500)),
            ("fail", Message::Fail(None)),
            ("fail 3", Message::Fail(Some(3))),
            ("fail_over", Message::FailOver),
            ("take_back", Message::TakeBack),
            ("link cut", Message::Link(false)),
            ("link heal", Message::Link(true)),
            ("slow 2.5", Message::Slow(slow(2.5), None)),
            ("slow 1000 30000000000", Message::Slow(slow(1000.0), Some(30_000_000_000))),
            ("corrupt flip 4096 512", Message::Corrupt(Corruption::Flip, (4096, 512))),
            ("corrupt misdirect 0 8192", Message::Corrupt(Corruption::Misdirect, (0, 8192))),
            ("", Message::Gone),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text), Ok(message), "{text}");
        }
    }

    #[test]
    fn unknown_messages_are_named() {
        for text in [
            "melt",
            "link",
            "link down",
            "on",
            "on soon",
            "cut soon",
            "slow",
            "slow 0.5",
            "slow x",
            "corrupt flip 1",
            "corrupt x 1 2",
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(text) || error.contains("expected 1 to 1000"), "{error}");
        }
    }
}
