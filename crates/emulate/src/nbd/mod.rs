//! Door by NBD: clients over a Unix socket or TCP, such as virtual machines.
//!
//! One export, without a name. Fixed newstyle handshake, simple replies, no encryption. All
//! connections share the drive's order, so a flush on one covers completed writes of all.

mod client;
mod handshake;
mod jobs;
mod probe;
mod socket;
mod wire;

use crate::door::{Door, Offer, Request};
use crate::ring::Ring;
use client::{Client, Found};
use jobs::{After, Jobs};
pub use probe::nbd_latency;
use socket::Address;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use tameshi_base::Nanos;

/// Connections at once; later ones are closed.
const MOST_CLIENTS: usize = 64;
/// Tokens of the ring: polls of the control socket and of the listener; others are a client's
/// number, twice, and one more for its poll for room.
const CONTROL: u64 = u64::MAX;
const LISTENER: u64 = u64::MAX - 1;

/// Listener and its clients.
pub(crate) struct Nbd {
    address: Address,
    offer: Offer,
    listener: Option<OwnedFd>,
    is_listener_polled: bool,
    can_accept: bool,
    clients: Vec<Client>,
    /// Number of the next client.
    next: u64,
    jobs: Jobs,
    /// Requests that follow from others that have ended.
    more: Vec<Request>,
    ring: Ring,
    control: RawFd,
    control_ready: bool,
    control_polling: bool,
}

impl Nbd {
    /// Listen on an address; `control` is polled as well.
    pub(crate) fn listen(address: &str, offer: Offer, control: RawFd) -> io::Result<Self> {
        let address = Address::parse(address)?;
        let listener = Some(address.listen()?);
        Ok(Self {
            address,
            offer,
            listener,
            is_listener_polled: false,
            can_accept: true,
            clients: Vec::new(),
            next: 0,
            jobs: Jobs::new()?,
            more: Vec::new(),
            ring: Ring::new(4 * MOST_CLIENTS as u32)?,
            control,
            control_ready: true,
            control_polling: false,
        })
    }

    fn reap(&mut self) {
        while let Some((token, _)) = self.ring.next() {
            match token {
                CONTROL => (self.control_polling, self.control_ready) = (false, true),
                LISTENER => (self.is_listener_polled, self.can_accept) = (false, true),
                token => {
                    let Some(client) = self.clients.iter_mut().find(|client| client.number == token / 2) else {
                        continue;
                    };
                    if token % 2 == 0 {
                        (client.is_polled, client.is_readable) = (false, true);
                    } else {
                        client.is_writer_polled = false;
                    }
                }
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        while let (true, Some(listener)) = (self.can_accept, &self.listener) {
            let Some(socket) = socket::accept(listener)? else {
                self.can_accept = false;
                return Ok(());
            };
            if self.clients.len() < MOST_CLIENTS
                && let Ok(client) = Client::new(self.next, socket)
            {
                self.clients.push(client);
                self.next += 1;
            }
        }
        Ok(())
    }

    /// Take all requests of a client that there is room for. An error ends its connection.
    fn serve(&mut self, index: usize, arrivals: &mut Vec<Request>) -> io::Result<()> {
        let client = &mut self.clients[index];
        if client.is_blocked() && !client.is_writer_polled {
            client.send(&mut self.jobs)?;
        }
        // A client that takes no replies sends no further requests.
        while !client.is_blocked() {
            let Found::Request(job, asked) = client.next(&mut self.jobs, &self.offer)? else { return Ok(()) };
            let after = self.jobs.start(job, client.number, asked, &self.offer, arrivals);
            if let After::Answer { header, bytes, .. } = after {
                client.reply(&mut self.jobs, job, header, bytes)?;
            }
        }
        Ok(())
    }

    fn close(&mut self, index: usize) {
        let client = self.clients.swap_remove(index);
        socket::shut(&client.socket);
        for job in client.held() {
            self.jobs.release(job);
        }
    }

    /// Poll what is not polled.
    fn arm(&mut self) -> io::Result<()> {
        if !self.control_polling && !self.control_ready {
            self.ring.poll(self.control, libc::POLLIN, CONTROL)?;
            self.control_polling = true;
        }
        if let (false, false, Some(listener)) = (self.is_listener_polled, self.can_accept, &self.listener) {
            self.ring.poll(listener.as_raw_fd(), libc::POLLIN, LISTENER)?;
            self.is_listener_polled = true;
        }
        for client in &mut self.clients {
            let socket = client.socket.as_raw_fd();
            if !client.is_polled && !client.is_readable {
                self.ring.poll(socket, libc::POLLIN, 2 * client.number)?;
                client.is_polled = true;
            }
            if !client.is_writer_polled && client.is_blocked() {
                self.ring.poll(socket, libc::POLLOUT, 2 * client.number + 1)?;
                client.is_writer_polled = true;
            }
        }
        Ok(())
    }
}

impl Door for Nbd {
    fn collect(&mut self, arrivals: &mut Vec<Request>) -> io::Result<()> {
        self.ring.run()?;
        self.reap();
        self.accept()?;
        arrivals.append(&mut self.more);
        for index in (0..self.clients.len()).rev() {
            if self.serve(index, arrivals).is_err() {
                self.close(index);
            }
        }
        self.arm()
    }

    fn payload(&mut self, tag: u32) -> &mut [u8] {
        self.jobs.payload(tag)
    }

    fn complete(&mut self, tag: u32, result: Result<u32, i32>) -> io::Result<()> {
        let After::Answer { client, header, bytes } = self.jobs.ended(tag, result, &mut self.more) else {
            return Ok(());
        };
        let job = jobs::job_of(tag);
        match self.clients.iter().position(|of| of.number == client) {
            None => self.jobs.release(job),
            Some(index) => {
                if self.clients[index].reply(&mut self.jobs, job, header, bytes).is_err() {
                    self.close(index);
                }
            }
        }
        Ok(())
    }

    fn submit(&mut self) -> io::Result<()> {
        self.ring.submit()
    }

    fn wait(&mut self, patience: Option<Nanos>) -> io::Result<()> {
        self.arm()?;
        if self.more.is_empty() { self.ring.wait(patience) } else { Ok(()) }
    }

    fn take_control(&mut self) -> bool {
        std::mem::take(&mut self.control_ready)
    }

    fn is_closed(&self) -> bool {
        false
    }

    fn name(&self) -> &'static str {
        "nbd"
    }

    fn switch(&mut self, is_on: bool) -> io::Result<()> {
        match (is_on, self.listener.is_some()) {
            (true, false) => {
                self.listener = Some(self.address.listen()?);
                self.can_accept = true;
            }
            (false, true) => {
                if let Some(listener) = self.listener.take() {
                    socket::shut(&listener);
                }
                self.address.remove()?;
                (0..self.clients.len()).rev().for_each(|index| self.close(index));
            }
            _ => {}
        }
        Ok(())
    }
}
