use super::*;

/// The server's port, and one that nobody listens on.
const SERVER: u16 = 8_086;
const ELSEWHERE: u16 = 443;

/// One that came from a port of its own.
fn socket(cookie: u64, inode: u32, rx: u64, tx: u64) -> TcpSocket {
    let local_port = 40_000 + u16::try_from(cookie).unwrap();
    TcpSocket { cookie, inode, bytes: NetworkBytes { rx, tx }, listens: false, local_port, remote: at(SERVER) }
}

fn at(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

/// The same, connected to another place.
fn to(port: u16, socket: TcpSocket) -> TcpSocket {
    TcpSocket { remote: at(port), ..socket }
}

/// The other end of a connection to the server.
fn accepted(cookie: u64, inode: u32, rx: u64, tx: u64) -> TcpSocket {
    TcpSocket { local_port: SERVER, remote: at(40_000), ..socket(cookie, inode, rx, tx) }
}

fn listener(cookie: u64, inode: u32) -> TcpSocket {
    TcpSocket { listens: true, ..accepted(cookie, inode, 0, 0) }
}

fn ended(socket: TcpSocket) -> TcpSocket {
    TcpSocket { inode: 0, ..socket }
}

/// Looks twice at these, of which the target holds some: all are known then.
fn account_of(sockets: &[TcpSocket], held: &[u32]) -> SocketAccount {
    let mut account = SocketAccount::default();
    let held = held.iter().copied().collect();
    account.update(sockets, Some(&held));
    account.update(sockets, Some(&held));
    assert!(account.knows_all(sockets));
    account
}

fn counted(rx: u64, tx: u64) -> Counted {
    Counted { bytes: NetworkBytes { rx, tx }, ..Counted::default() }
}

#[test]
fn own_sockets_count_and_closed_ones_stay() {
    let mut account = SocketAccount::default();
    account.update(&[socket(1, 11, 5, 7), socket(2, 12, 100, 100)], Some(&HashSet::from([11])));
    assert_eq!(account.counted(), counted(5, 7));
    account.update(&[socket(1, 0, 6, 9), socket(2, 12, 900, 900)], None);
    assert_eq!(account.counted(), counted(6, 9), "a socket being closed still counts");
    account.update(&[socket(3, 11, 1, 1)], Some(&HashSet::from([11])));
    assert_eq!(account.counted(), counted(7, 10));
}

/// What passed between the last look and the end was missing: 22 % of a run of 5 s.
#[test]
fn what_a_connection_carried_until_its_end_counts() {
    let mut account = account_of(&[socket(1, 11, 5, 7)], &[11]);
    account.update(&[], None);
    assert!(account.waits());
    account.end(&[ended(socket(1, 0, 1_005, 2_007))]);
    account.give_up_waiting();
    assert_eq!((account.waits(), account.counted()), (false, counted(1_005, 2_007)));
    account.update(&[], None);
    account.end(&[]);
    assert_eq!(account.counted(), counted(1_005, 2_007), "once");
}

#[test]
fn one_that_is_listed_and_told_as_ended_counts_once() {
    let mut account = account_of(&[socket(1, 11, 5, 7)], &[11]);
    account.end(&[ended(socket(1, 0, 9, 9))]);
    account.update(&[], None);
    account.give_up_waiting();
    assert_eq!(account.counted(), counted(9, 9));
}

#[test]
fn without_its_last_counts_a_connection_leaves_a_lower_bound() {
    let mut account = account_of(&[socket(1, 11, 5, 7)], &[11]);
    account.update(&[], None);
    account.give_up_waiting();
    assert_eq!(account.counted(), Counted { missed: 1, ..counted(5, 7) });
    account.end(&[ended(socket(1, 0, 1_005, 2_007))]);
    assert_eq!(account.counted(), Counted { missed: 1, ..counted(5, 7) }, "too late: it was told as it was");
}

/// Connections shorter than the time between two looks: both ends are told with their counts, and count where they belong.
#[test]
fn connections_that_nobody_saw_count_for_who_listens_and_for_who_was_seen_to_go_there() {
    let unseen = [ended(socket(8, 0, 500, 1_000)), ended(accepted(9, 0, 1_000, 500))];
    let seen = [listener(1, 11), accepted(2, 12, 1, 2), socket(3, 13, 2, 1)];
    let mut server = account_of(&seen, &[11, 12]);
    server.end(&unseen);
    assert_eq!(server.counted(), counted(1_001, 502));
    let mut client = account_of(&seen, &[13]);
    client.end(&unseen);
    assert_eq!(client.counted(), counted(502, 1_001));
    let mut stranger = account_of(&[seen[0], seen[1], seen[2], to(ELSEWHERE, socket(4, 14, 0, 0))], &[14]);
    stranger.end(&unseen[1..]);
    assert_eq!(stranger.counted(), counted(0, 0));
}

#[test]
fn what_may_have_been_somebody_elses_is_in_doubt() {
    let unseen = ended(socket(8, 0, 500, 1_000));
    let doubt = |mut account: SocketAccount| {
        account.end(&[unseen]);
        account.counted()
    };
    let in_doubt = |rx, tx| Counted { doubtful_bytes: 1_500, ..counted(rx, tx) };
    assert_eq!(
        doubt(account_of(&[to(ELSEWHERE, socket(1, 11, 1, 1))], &[11])),
        in_doubt(1, 1),
        "nobody was seen there"
    );
    assert_eq!(
        doubt(account_of(&[socket(1, 11, 1, 1), socket(2, 12, 0, 0)], &[11])),
        in_doubt(1, 1),
        "others were, too"
    );
    let mut shared = account_of(&[listener(1, 11), listener(2, 12)], &[11]);
    shared.end(&[ended(accepted(9, 0, 1_000, 500))]);
    assert_eq!(shared.counted(), in_doubt(0, 0), "two listen");
}

#[test]
fn of_a_socket_that_was_not_held_at_its_only_listing_nothing_is_certain() {
    let mut account = account_of(&[socket(1, 11, 1, 1)], &[11]);
    account.update(&[socket(1, 11, 1, 1), socket(2, 12, 4, 2)], Some(&HashSet::from([11])));
    account.update(&[socket(1, 11, 1, 1)], None);
    account.end(&[ended(socket(2, 0, 8, 2))]);
    assert_eq!(account.counted(), Counted { doubtful_bytes: 10, ..counted(1, 1) });
}

#[test]
fn the_end_of_somebody_elses_says_nothing_however_late_it_is_told() {
    let mut account = account_of(&[socket(1, 11, 1, 1), socket(2, 12, 4, 2)], &[11]);
    account.update(&[socket(1, 11, 1, 1)], None);
    account.update(&[socket(1, 11, 1, 1)], None);
    account.end(&[ended(socket(2, 0, 8, 2))]);
    assert_eq!(account.counted(), counted(1, 1));
}

#[test]
fn a_socket_not_yet_accepted_is_classified_later() {
    let mut account = SocketAccount::default();
    account.update(&[socket(1, 0, 3, 0)], None);
    assert!(!account.knows_all(&[socket(1, 11, 3, 0)]));
    account.update(&[socket(1, 11, 4, 2)], Some(&HashSet::from([11])));
    assert_eq!(account.counted(), counted(4, 2));
}

#[test]
fn a_socket_is_foreign_only_at_the_second_listing() {
    let mut account = SocketAccount::default();
    let (row, nothing) = ([socket(1, 11, 4, 2)], HashSet::new());
    account.update(&row, Some(&nothing));
    account.update(&row, None);
    assert!(!account.knows_all(&row), "its process may have been too young to be listed");
    let mut held_late = SocketAccount { suspects: account.suspects.clone(), ..SocketAccount::default() };
    held_late.update(&row, Some(&HashSet::from([11])));
    assert_eq!(held_late.counted(), counted(4, 2));
    account.update(&row, Some(&nothing));
    assert!(account.knows_all(&row));
    assert_eq!(account.counted(), counted(0, 0));
}

/// The kernel may tell less of a socket that is being closed than it told before.
#[test]
fn what_was_seen_of_a_connection_never_becomes_less() {
    let mut account = account_of(&[socket(1, 11, 500, 700), socket(2, 12, 30, 40)], &[11, 12]);
    account.update(&[socket(1, 0, 5, 7), socket(2, 12, 30, 40)], None);
    assert_eq!(account.counted(), counted(530, 740), "while it is listed");
    account.end(&[ended(socket(2, 0, 3, 4))]);
    assert_eq!(account.counted(), counted(530, 740), "and at its end");
}

/// Others connect where the target does: what ends of theirs is not in doubt for that.
#[test]
fn the_end_of_somebody_elses_that_was_listed_says_nothing() {
    let mut account = account_of(&[socket(1, 11, 1, 1), socket(2, 12, 4, 2)], &[11]);
    account.end(&[ended(socket(2, 0, 8, 2))]);
    assert_eq!(account.counted(), counted(1, 1));
}

#[test]
fn a_port_that_somebody_else_listens_on_no_more_is_the_targets() {
    let mut account = account_of(&[listener(1, 11)], &[]);
    account.update(&[listener(2, 12)], Some(&HashSet::from([12])));
    account.end(&[ended(accepted(9, 0, 1_000, 500))]);
    assert_eq!(account.counted(), counted(1_000, 500));
}

/// Where the target's clients come from is no place that it connects to.
#[test]
fn what_a_server_accepted_says_nothing_of_whereto_it_connects() {
    let mut account = account_of(&[listener(1, 11), accepted(2, 12, 0, 0)], &[11, 12]);
    account.end(&[ended(to(40_000, socket(8, 0, 500, 1_000)))]);
    assert_eq!(account.counted(), Counted { doubtful_bytes: 1_500, ..counted(0, 0) });
}

#[test]
fn what_was_not_told_is_counted_each_time() {
    let mut account = account_of(&[socket(1, 11, 5, 7)], &[11]);
    account.miss();
    account.miss();
    assert_eq!(account.counted(), Counted { missed: 2, ..counted(5, 7) });
}
