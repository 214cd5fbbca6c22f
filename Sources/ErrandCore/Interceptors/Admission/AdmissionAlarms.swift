/// The timers of hosts whose waiters lack a token: one a host at most. Decides, and sets none itself.
struct AdmissionAlarms: Sendable {
  /// A timer that was set, or is about to be.
  struct Alarm: Sendable {
    fileprivate let number: UInt64
    let moment: MonotonicInstant
    let timers: any Timers
    /// Nil until the timers have answered.
    fileprivate(set) var token: TimerToken?

    /// Takes the timer out; one that is about to be set is refused by ``AdmissionAlarms/keep(_:_:for:)``.
    func cancel() {
      if let token { timers.cancel(token) }
    }
  }

  /// What has to be done once the lock is released.
  struct Order: Sendable {
    var cancels: Alarm?
    var sets: Alarm?
  }

  private var alarms: [Int: Alarm] = [:]
  private var last: UInt64 = 0

  /// Brings the alarm of a host in line with the moment its waiters need; nil for none.
  mutating func tend(_ host: Int, _ moment: MonotonicInstant?, _ timers: any Timers) -> Order? {
    guard let moment else {
      return alarms.isEmpty ? nil : alarms.removeValue(forKey: host).map { Order(cancels: $0) }
    }
    if let present = alarms[host], present.moment <= moment { return nil }
    last &+= 1
    let alarm = Alarm(number: last, moment: moment, timers: timers)
    return Order(cancels: alarms.updateValue(alarm, forKey: host), sets: alarm)
  }

  /// Keeps the timer that was set for an alarm. False where it has gone off or is not wanted any more.
  mutating func keep(_ token: TimerToken, _ alarm: Alarm, for host: Int) -> Bool {
    guard alarms[host]?.number == alarm.number else { return false }
    alarms[host]?.token = token
    return true
  }

  /// Takes an alarm that goes off. False where it is not wanted any more.
  mutating func take(_ alarm: Alarm, for host: Int) -> Bool {
    guard alarms[host]?.number == alarm.number else { return false }
    alarms[host] = nil
    return true
  }
}
