import RealtimeCore
import RealtimeDatabase
import RealtimeServer
import TestSupport

extension Simulation {
  /// Starts a connection for a client.
  mutating func connect(_ index: Int, _ connection: ConnectionID) {
    let isSlow = random.once(in: 8)
    if isSlow { mark("slow peer") }
    let delay = isSlow ? 500 + Int64(random.below(3_000)) : 1 + Int64(random.below(60))
    var link = Link(
      client: index,
      incarnation: clients[index].incarnation,
      connection: connection,
      peer: PeerID(links.count),
      delay: delay
    )
    link.previous = clients[index].lastPeer
    links.append(link)
    if let silent = clients[index].links.values.first, links[silent].isClientOpen { mark("spare") }
    clients[index].links[connection] = links.count - 1
    if clients[index].links.count > 2 { fail("client \(index) has more than two connections") }
    agenda.add(.accept(link: links.count - 1), at: now + delay)
  }

  /// The server accepts a connection, or is unreachable.
  mutating func accept(_ number: Int) {
    let link = links[number]
    guard link.isClientOpen else { return }
    if now < (isolatedUntil[link.client] ?? 0) {
      mark("unreachable")
      // The client's own timeout, or sometimes a refusal, ends the attempt.
      if random.once(in: 2) { agenda.add(.clientNotices(link: number), at: now + link.delay) }
      return
    }
    guard isServerUp else {
      agenda.add(.clientNotices(link: number), at: now + link.delay)
      return
    }
    if retiresConnections, let previous = link.previous, let old = linkOfPeer[previous] {
      mark("retired")
      closeAtServer(old)
    }
    links[number].isServerOpen = true
    linkOfPeer[link.peer] = number
    hub.open(link.peer)
    let hello = TreeHub.hello(timestamp: now, host: "h", session: "\(link.peer.number)")
    send(.hello(hello), down: number)
  }

  mutating func send(_ message: ClientMessage, up number: Int) {
    guard links[number].isClientOpen else { return }
    let delay = links[number].delay + Int64(random.below(10))
    let arrival = links[number].up.arrival(now: now, delay: delay)
    for _ in 0..<(isDoubled(message) ? 2 : 1) {
      links[number].up.inFlight += 1
      agenda.add(.up(link: number, message), at: arrival)
    }
  }

  /// Whether the network delivers a message twice: one that a client may repeat, or any push.
  private mutating func isDoubled(_ message: ClientMessage) -> Bool {
    guard case .request(_, let request) = message, !isHealing else { return false }
    switch request {
    case .listen, .unlisten, .get: break
    case .write(let write): if write.key == nil { return false }
    case .stats, .authenticate, .unauthenticate, .appCheck, .onDisconnect, .cancelOnDisconnect,
      .unknown:
      return false
    }
    guard random.once(in: 20) else { return false }
    mark("request doubled")
    return true
  }

  private mutating func isDoubled(_ message: ServerMessage) -> Bool {
    switch message {
    case .push, .response: break
    case .hello, .reset, .shutdown, .error, .pong: return false
    }
    guard !isHealing, random.once(in: 30) else { return false }
    mark("answer doubled")
    return true
  }

  mutating func send(_ message: ServerMessage, down number: Int) {
    guard links[number].isServerOpen else { return }
    let delay = links[number].delay + Int64(random.below(10))
    let arrival = links[number].down.arrival(now: now, delay: delay)
    for _ in 0..<(isDoubled(message) ? 2 : 1) {
      links[number].down.inFlight += 1
      agenda.add(.down(link: number, message), at: arrival)
    }
  }

  mutating func arrived(_ message: ServerMessage, down number: Int) {
    links[number].down.inFlight -= 1
    let link = links[number]
    guard link.isClientOpen, now < link.down.cutAt else { return }
    if case .hello = message {
      if clients[link.client].links.count > 1 { mark("spare greeted") }
      clients[link.client].lastPeer = link.peer
      feed(link.client, .transportOpened(link.connection))
    }
    feed(link.client, .message(link.connection, message))
  }

  /// Makes a connection useless; each end notices at its own time, or only by the silence.
  mutating func cut(_ number: Int) {
    let link = links[number]
    guard link.isClientOpen else { return }
    mark("cut")
    links[number].up.cutAt = min(link.up.cutAt, now + Int64(random.below(3_000)))
    links[number].down.cutAt = min(link.down.cutAt, now + Int64(random.below(200)))
    if random.below(4) > 0 {
      agenda.add(.clientNotices(link: number), at: now + Int64(random.below(1_500)))
    }
    // A server that receives nothing ends a connection eventually.
    let patience = random.once(in: 3) ? 60_000 : 4_000
    let notice = now + link.delay + Int64(random.below(patience))
    agenda.add(.serverNotices(link: number), at: notice)
  }

  /// Holds up one direction of a connection for a while.
  mutating func block(_ number: Int) {
    mark("blocked")
    let until = now + Int64(random.below(4_000))
    if random.once(in: 2) {
      links[number].up.blockedUntil = until
    } else {
      links[number].down.blockedUntil = until
    }
  }

  mutating func clientNotices(_ number: Int) {
    let link = links[number]
    guard link.isClientOpen else { return }
    links[number].isClientOpen = false
    guard clients[link.client].incarnation == link.incarnation else { return }
    if clients[link.client].links[link.connection] == number {
      clients[link.client].links[link.connection] = nil
    }
    feed(link.client, .transportClosed(link.connection, reason: "lost"))
  }

  /// The client closes its end; data already sent still arrives before the server notices.
  mutating func closeAtClient(_ number: Int) {
    guard links[number].isClientOpen else { return }
    links[number].isClientOpen = false
    let delay = links[number].delay
    let arrival = links[number].up.arrival(now: now, delay: delay)
    agenda.add(.serverNotices(link: number), at: arrival)
  }

  mutating func serverNotices(_ number: Int) {
    closeAtServer(number)
  }

  /// Separates some clients from the server for a while: their connections are cut, and no new ones
  /// open.
  private mutating func partition() {
    mark("partition")
    let end = now + 200 + Int64(random.below(4_000))
    for index in clients.indices where random.once(in: 2) {
      isolatedUntil[index] = end
      for (_, link) in clients[index].links.sorted(by: { $0.value < $1.value }) { cut(link) }
    }
  }

  /// Disturbs the network, the server or the store.
  mutating func disturb() {
    if isHealing { return }
    agenda.add(.disturb, at: now + 100 + Int64(random.below(2_500)))
    let open = links.indices.filter { links[$0].isClientOpen }
    // A bug that shows only when the store fails requires a store that often fails.
    let isAboutStore = fault == .presumedFailure && random.once(in: 2)
    switch isAboutStore ? 8 : random.below(13) {
    case 0...4: if !open.isEmpty { cut(random.pick(open)) }
    case 5...6: if !open.isEmpty { block(random.pick(open)) }
    case 7: crash(for: 50 + Int64(random.below(3_000)))
    case 8:
      mark("store fails")
      store.failsUntil = now + Int64(random.below(2_500))
    case 9: restart(random.below(clients.count))
    case 10: for number in open where random.once(in: 2) { cut(number) }
    case 11: partition()
    case _:
      let index = random.below(clients.count)
      if clients[index].core.interruptReasons.contains(.user) {
        feed(index, .goOnline(.user))
      } else if random.once(in: 2) {
        feed(index, .goOffline(.user))
      }
    }
  }
}
