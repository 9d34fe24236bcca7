//! Control messages: one word each from the owner, one JSON object each in answer.

use serde_json::Value;
use std::io;
use std::os::fd::RawFd;

/// Message of the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Report the state.
    Status,
    /// Forget all figures so far.
    Reset,
    /// Answer at once, without the model, until `on`.
    Bypass,
    /// Switch the power on; the path adds this many nanoseconds of wall time to each answer.
    On(u64),
    /// Cut the power.
    Cut,
    /// Fail a member of a stack, or all of it.
    Fail(Option<u32>),
    /// Replace a failed member.
    Replace(u32),
    /// The owner is gone.
    Gone,
}

/// Receive a message without waiting; `None` if there is none.
pub(crate) fn receive(socket: RawFd) -> io::Result<Option<Message>> {
    let mut buffer = [0_u8; 64];
    // SAFETY: the buffer belongs to this function.
    let length = unsafe { libc::recv(socket, buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_DONTWAIT) };
    if length < 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => Ok(None),
            Some(libc::ECONNRESET) => Ok(Some(Message::Gone)),
            _ => Err(error),
        };
    }
    let text = std::str::from_utf8(&buffer[..length as usize]).unwrap_or_default();
    let (word, argument) = text.split_once(' ').unwrap_or((text, ""));
    let member = || argument.parse().map_err(|_| io::Error::other(format!("unknown member: {text}")));
    Ok(Some(match word {
        "status" => Message::Status,
        "reset" => Message::Reset,
        "bypass" => Message::Bypass,
        "on" => Message::On(argument.parse().map_err(|_| io::Error::other(format!("unknown offset: {text}")))?),
        "cut" => Message::Cut,
        "fail" => Message::Fail(if argument.is_empty() { None } else { Some(member()?) }),
        "replace" => Message::Replace(member()?),
        "" => Message::Gone,
        _ => return Err(io::Error::other(format!("unknown control message: {text}"))),
    }))
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
