//! Connection of a client: handshake, then requests in and replies out.

use super::handshake::{Handshake, Step, greeting};
use super::jobs::{Jobs, MOST};
use super::socket;
use super::wire::{self, Asked, command};
use crate::door::Offer;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;

/// Bytes received at once; larger data of a write go to its buffer directly.
const BUFFER: usize = 64 << 10;

/// Reply that the socket has not taken yet.
#[derive(Debug)]
struct Reply {
    job: u32,
    header: [u8; wire::REPLY_BYTES],
    bytes: usize,
    /// Bytes of header and data that are sent.
    sent: usize,
}

/// Write whose data are arriving.
#[derive(Clone, Copy, Debug)]
struct Filling {
    job: u32,
    asked: Asked,
    have: usize,
}

/// Connection of a client.
pub(super) struct Client {
    pub(super) number: u64,
    pub(super) socket: OwnedFd,
    /// The ring polls for requests, or for room in the socket.
    pub(super) is_polled: bool,
    pub(super) is_writer_polled: bool,
    /// Bytes may be there to receive.
    pub(super) is_readable: bool,
    handshake: Option<Handshake>,
    buffer: Box<[u8]>,
    begin: usize,
    end: usize,
    filling: Option<Filling>,
    replies: VecDeque<Reply>,
}

/// Result of looking for a request.
pub(super) enum Found {
    /// A request, whose data are in its job's buffer.
    Request(u32, Asked),
    /// Nothing until more bytes arrive.
    Nothing,
    /// No place for a request until another one ends.
    Full,
}

impl Client {
    /// Greet a new client.
    pub(super) fn new(number: u64, socket: OwnedFd) -> io::Result<Self> {
        let greeting = greeting();
        if socket::send(&socket, &greeting, &[])? < greeting.len() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let buffer = vec![0; BUFFER].into_boxed_slice();
        let (replies, handshake) = (VecDeque::new(), Some(Handshake::default()));
        let mut client = Self {
            number,
            socket,
            is_polled: false,
            is_writer_polled: false,
            is_readable: true,
            handshake,
            buffer,
            begin: 0,
            end: 0,
            filling: None,
            replies,
        };
        client.replies.reserve(16);
        Ok(client)
    }

    /// Return whether replies wait for room in the socket.
    pub(super) fn is_blocked(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Return the jobs that only this connection holds: arriving data, and unsent replies.
    pub(super) fn held(&self) -> impl Iterator<Item = u32> {
        self.filling.iter().map(|filling| filling.job).chain(self.replies.iter().map(|reply| reply.job))
    }

    /// Look for the next request.
    ///
    /// # Errors
    /// The connection ended, or the client does not follow the protocol.
    pub(super) fn next(&mut self, jobs: &mut Jobs, offer: &Offer) -> io::Result<Found> {
        loop {
            if self.handshake.is_some() {
                self.shake_hands(offer)?;
            } else if let Some(filling) = self.filling {
                if self.fill(jobs, filling)? {
                    self.filling = None;
                    return Ok(Found::Request(filling.job, filling.asked));
                }
            } else if self.end - self.begin >= wire::REQUEST_BYTES {
                let asked = wire::asked(&self.buffer[self.begin..self.end]).ok_or_else(broken)?;
                let has_data = matches!(asked.command, command::READ | command::WRITE);
                if asked.command == command::DISCONNECT || has_data && asked.length > MOST {
                    return Err(broken());
                }
                let Some(job) = jobs.take() else { return Ok(Found::Full) };
                self.begin += wire::REQUEST_BYTES;
                if asked.command != command::WRITE {
                    return Ok(Found::Request(job, asked));
                }
                self.filling = Some(Filling { job, asked, have: 0 });
                continue;
            }
            if !self.is_readable {
                return Ok(Found::Nothing);
            }
            self.receive(jobs)?;
        }
    }

    fn shake_hands(&mut self, offer: &Offer) -> io::Result<()> {
        let Some(handshake) = &mut self.handshake else { return Ok(()) };
        let mut output = Vec::new();
        let (used, step) = handshake.advance(&self.buffer[self.begin..self.end], &mut output, offer, MOST);
        self.begin += used;
        // A client that reads no answers to its options is not served.
        if socket::send(&self.socket, &output, &[])? < output.len() || step == Step::Close {
            return Err(broken());
        }
        if step == Step::Begin {
            self.handshake = None;
        }
        Ok(())
    }

    /// Move received bytes to a write's data; return whether all are there.
    fn fill(&mut self, jobs: &mut Jobs, Filling { job, asked, have }: Filling) -> io::Result<bool> {
        let whole = asked.length as usize;
        let taken = (whole - have).min(self.end - self.begin);
        jobs.data(job, whole)[have..have + taken].copy_from_slice(&self.buffer[self.begin..self.begin + taken]);
        self.begin += taken;
        self.filling = Some(Filling { job, asked, have: have + taken });
        Ok(have + taken == whole)
    }

    /// Receive bytes, without waiting: into a write's data if the buffer is empty.
    fn receive(&mut self, jobs: &mut Jobs) -> io::Result<()> {
        if self.begin > 0 {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        // A short count means that the socket is empty; a poll reports what arrives later.
        self.is_readable = match &mut self.filling {
            Some(Filling { job, asked, have }) if asked.length as usize - *have >= BUFFER => {
                let room = &mut jobs.data(*job, asked.length as usize)[*have..];
                let received = socket::receive(&self.socket, room)?;
                *have += received;
                received == room.len()
            }
            _ => {
                let room = &mut self.buffer[self.end..];
                let received = socket::receive(&self.socket, room)?;
                self.end += received;
                received == room.len()
            }
        };
        Ok(())
    }

    /// Send a reply, or as much of it as the socket takes.
    pub(super) fn reply(
        &mut self,
        jobs: &mut Jobs,
        job: u32,
        header: [u8; wire::REPLY_BYTES],
        bytes: usize,
    ) -> io::Result<()> {
        self.replies.push_back(Reply { job, header, bytes, sent: 0 });
        self.send(jobs)
    }

    /// Send waiting replies as far as the socket takes them.
    pub(super) fn send(&mut self, jobs: &mut Jobs) -> io::Result<()> {
        while let Some(reply) = self.replies.front_mut() {
            let data = jobs.data(reply.job, reply.bytes);
            let (head, rest) = (reply.sent.min(wire::REPLY_BYTES), reply.sent.saturating_sub(wire::REPLY_BYTES));
            let sent = socket::send(&self.socket, &reply.header[head..], &data[rest..])?;
            reply.sent += sent;
            if reply.sent < wire::REPLY_BYTES + reply.bytes {
                if sent == 0 {
                    return Ok(());
                }
                continue;
            }
            jobs.release(reply.job);
            self.replies.pop_front();
        }
        Ok(())
    }
}

fn broken() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}
