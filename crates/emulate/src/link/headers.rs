//! Headers of packets.

const TCP: u8 = 6;
const IPV6_BYTES: usize = 40;
const SHORT_BYTES: usize = 8;

/// Return the bytes of data in a packet.
///
/// The rate of a link counts data alone: the headers of IP, TCP and UDP are subtracted in its
/// profile. Messages without data, such as acknowledgements of TCP, cross in no time.
#[inline]
pub(super) fn data_bytes(packet: &[u8]) -> u64 {
    let byte = |place: usize| packet.get(place).copied().unwrap_or_default();
    let (network, protocol) = match byte(0) >> 4 {
        4 => (usize::from(byte(0) & 15) * 4, byte(9)),
        6 => (IPV6_BYTES, byte(6)),
        _ => return packet.len() as u64,
    };
    let transport = if protocol == TCP { usize::from(byte(network + 12) >> 4) * 4 } else { SHORT_BYTES };
    packet.len().saturating_sub(network + transport) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(version: u8, protocol: u8, length: usize) -> Vec<u8> {
        let mut packet = vec![0; length];
        if version == 4 {
            (packet[0], packet[9]) = (0x45, protocol);
            packet[20 + 12] = 8 << 4;
        } else {
            (packet[0], packet[6]) = (0x60, protocol);
            packet[40 + 12] = 5 << 4;
        }
        packet
    }

    #[test]
    fn data_of_a_packet_are_without_its_headers() {
        assert_eq!(data_bytes(&packet(4, TCP, 1500)), 1500 - 20 - 32);
        assert_eq!(data_bytes(&packet(6, TCP, 1500)), 1500 - 40 - 20);
        assert_eq!(data_bytes(&packet(4, 17, 1500)), 1500 - 28);
        assert_eq!(data_bytes(&packet(4, TCP, 52)), 0, "an acknowledgement");
    }

    #[test]
    fn packets_with_wrong_headers_count_no_more_than_their_length() {
        for packet in [vec![], vec![0x45], vec![0x4f; 12], vec![0x60; 41], vec![0xff; 9]] {
            assert!(data_bytes(&packet) <= packet.len() as u64, "{packet:?}");
        }
    }
}
