//! Round trip and rate of a link, as programs in its two hosts find them.

use crate::calibrate::least_median;
use crate::clock;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tameshi_base::Nanos;

/// Bytes of a message whose round trip is measured.
const MESSAGE: usize = 16;
/// Time for which a receiver waits after the last datagram: some times that of one datagram more.
const QUIET: Nanos = 100_000_000;
const QUIET_DATAGRAMS: u128 = 4;
/// Memory for datagrams that the receiver has yet to take.
const RECEIVE_BYTES: libc::c_int = 8 << 20;
/// Percent of the data of a measurement of the rate that do not count, and bytes at most: the first
/// ones, until all threads run.
const WARM_UP_PERCENT: u128 = 10;
const MOST_WARM_UP: u128 = 4 << 20;
/// Room for the time of arrival of a datagram, in words of 8 bytes.
const CONTROL_WORDS: usize = 8;
/// Load of a measurement of the rate, in percent of the rate asked for.
const LOAD_PERCENT: u64 = 120;

/// Measure the round trip of a short message from the first network to an address in the second.
///
/// Return the least median of groups of `messages`, after some to warm up; in wall time. The
/// networks are descriptors of namespaces.
///
/// # Errors
/// Those of the kernel; no answer within the patience.
pub fn link_round_trip(
    networks: [RawFd; 2],
    address: Ipv4Addr,
    messages: u32,
    patience: Duration,
) -> io::Result<Nanos> {
    let [near, far] = networks;
    thread::scope(|scope| {
        let (tell, place) = mpsc::channel();
        let echo = scope.spawn(move || {
            let socket = bound(far, address)?;
            socket.set_read_timeout(Some(patience))?;
            tell.send(socket.local_addr()?).map_err(io::Error::other)?;
            let mut message = [0; MESSAGE];
            loop {
                let (length, from) = socket.recv_from(&mut message)?;
                socket.send_to(&message[..length], from)?;
                if length == 0 {
                    return io::Result::Ok(());
                }
            }
        });
        let asking = scope.spawn(move || match place.recv() {
            Ok(place) => round_trips(&bound(near, Ipv4Addr::UNSPECIFIED)?, place, messages, patience),
            Err(_) => Err(io::Error::other("the far host took no socket")),
        });
        let asked = ended(asking.join());
        // An echo without a socket has the better reason.
        match (asked, ended(echo.join())) {
            (Ok(time), _) => Ok(time),
            (Err(error), Ok(())) => Err(error),
            (Err(error), Err(far)) => Err(if is_silence(&far) { error } else { far }),
        }
    })
}

/// Return what a thread returned; a panic goes on in this one.
fn ended<T>(joined: thread::Result<T>) -> T {
    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn round_trips(socket: &UdpSocket, to: SocketAddr, messages: u32, patience: Duration) -> io::Result<Nanos> {
    socket.connect(to)?;
    socket.set_read_timeout(Some(patience))?;
    let (mut answer, warm_up) = ([0; MESSAGE], messages.div_ceil(4));
    let mut times = Vec::with_capacity(messages as usize);
    for number in 0..warm_up + messages {
        let begin = clock::now();
        socket.send(&[0; MESSAGE])?;
        let received = socket.recv(&mut answer);
        received.map_err(|error| if is_silence(&error) { no_answer(patience) } else { error })?;
        if number >= warm_up {
            times.push(clock::now() - begin);
        }
    }
    socket.send(&[])?;
    least_median(&mut times).ok_or_else(|| io::Error::other("no message to measure"))
}

fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn no_answer(patience: Duration) -> io::Error {
    let message = format!("no answer across the link within {:.1} s", patience.as_secs_f64());
    io::Error::new(io::ErrorKind::TimedOut, message)
}

/// Measure the rate of a link under a load of datagrams of `bytes` each, a fifth above the rate
/// asked for, during `window`. Return bytes of data per second of wall time.
///
/// The first datagram arrives within the patience.
///
/// # Errors
/// Those of the kernel; fewer than two datagrams that arrived.
pub fn link_rate(
    networks: [RawFd; 2],
    address: Ipv4Addr,
    (bytes_per_second, bytes): (u64, usize),
    window: Nanos,
    patience: Duration,
) -> io::Result<u64> {
    let [near, far] = networks;
    let rate = u128::from(bytes_per_second.max(1));
    let datagrams = QUIET_DATAGRAMS * bytes as u128 * 1_000_000_000 / rate;
    let warm_up = (rate * u128::from(window) / 1_000_000_000 * WARM_UP_PERCENT / 100).min(MOST_WARM_UP) as u64;
    let quiet = Duration::from_nanos(QUIET + datagrams as Nanos);
    thread::scope(|scope| {
        let (tell, place) = mpsc::channel();
        let receiving = scope.spawn(move || {
            let socket = bound(far, address)?;
            set(&socket, libc::SO_RCVBUFFORCE, RECEIVE_BYTES)?;
            set(&socket, libc::SO_TIMESTAMPNS, 1)?;
            tell.send(socket.local_addr()?).map_err(io::Error::other)?;
            received(&socket, (bytes, warm_up), patience, quiet)
        });
        let sending = scope.spawn(move || match place.recv() {
            Ok(place) => {
                let socket = bound(near, Ipv4Addr::UNSPECIFIED)?;
                socket.connect(place)?;
                send_load(&socket, bytes_per_second, bytes, window)
            }
            Err(_) => Err(io::Error::other("the far host took no socket")),
        });
        let sent = ended(sending.join());
        ended(receiving.join()).and_then(|rate| sent.map(|()| rate))
    })
}

/// Send datagrams at the rate of the load.
fn send_load(socket: &UdpSocket, bytes_per_second: u64, bytes: usize, window: Nanos) -> io::Result<()> {
    let datagram = vec![0; bytes];
    let load = u128::from(bytes_per_second) * u128::from(LOAD_PERCENT) / 100;
    let (begin, mut sent) = (clock::now(), 0_u128);
    loop {
        let elapsed = clock::now() - begin;
        if elapsed >= window {
            return Ok(());
        }
        let ahead = sent * 1_000_000_000 / load.max(1);
        if ahead > u128::from(elapsed) {
            thread::sleep(Duration::from_nanos((ahead - u128::from(elapsed)) as u64));
            continue;
        }
        match socket.send(&datagram) {
            Ok(_) => {}
            // The device has no room: the datagram is lost, as beyond a full queue.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) || is_silence(&error) => {}
            Err(error) => return Err(error),
        }
        sent += bytes as u128;
    }
}

/// Receive datagrams of `bytes` until none comes any more; return the bytes per second that came
/// after the first `warm_up` bytes, by the kernel's times of arrival: this thread may be held up.
fn received(
    socket: &UdpSocket,
    (bytes, warm_up): (usize, u64),
    patience: Duration,
    quiet: Duration,
) -> io::Result<u64> {
    let mut buffer = vec![0; bytes];
    let (mut begin, mut last, mut total) = (None, 0, 0_u64);
    socket.set_read_timeout(Some(patience))?;
    loop {
        match receive_stamped(socket, &mut buffer) {
            Ok((length, at)) => {
                last = at;
                if total == 0 {
                    socket.set_read_timeout(Some(quiet))?;
                }
                total += length as u64;
                if begin.is_none() && total > warm_up {
                    begin = Some((last, total));
                }
            }
            Err(error) if is_silence(&error) => break,
            Err(error) => return Err(error),
        }
    }
    match begin {
        Some((since, before)) if last > since => {
            Ok((u128::from(total - before) * 1_000_000_000 / u128::from(last - since)) as u64)
        }
        _ => Err(no_answer(patience)),
    }
}

/// Enter a network namespace with this thread, and bind a socket there.
fn bound(network: RawFd, address: Ipv4Addr) -> io::Result<UdpSocket> {
    // SAFETY: a call with plain numbers, which changes this thread alone.
    if unsafe { libc::setns(network, libc::CLONE_NEWNET) } < 0 {
        return Err(io::Error::last_os_error());
    }
    UdpSocket::bind((address, 0))
}

/// Set a number of a socket.
fn set(socket: &UdpSocket, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let (level, length) = (libc::SOL_SOCKET, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: the number belongs to this function.
    let done = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const value).cast(), length) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Receive a datagram; return its length and the time at which it arrived at the socket.
fn receive_stamped(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<(usize, Nanos)> {
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut control = [0_u64; CONTROL_WORDS];
    // SAFETY: a structure of numbers and pointers, for which zeros are valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), size_of_val(&control));
    // SAFETY: all buffers live longer than the call, and have the lengths that the message names.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    if length < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has written whole headers into the aligned buffer, as the message says.
    let stamp = unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (!header.is_null() && (*header).cmsg_type == libc::SCM_TIMESTAMPNS)
            .then(|| libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned())
    };
    let time = stamp.ok_or_else(|| io::Error::other("the kernel gave a datagram no time of arrival"))?;
    Ok((length as usize, time.tv_sec as Nanos * 1_000_000_000 + time.tv_nsec as Nanos))
}
