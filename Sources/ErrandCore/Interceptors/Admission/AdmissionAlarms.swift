/// The timers that wake the calls that wait for a rate token, at most one timer per host. The type only decides; the
/// caller sets the timers.
struct AdmissionAlarms: Sendable {
  /// A timer that is set or is about to be set.
  struct Alarm: Sendable {
    fileprivate let number: UInt64
    let moment: MonotonicInstant
    let timers: any Timers
    /// Nil until the timer is scheduled.
    fileprivate(set) var token: TimerToken?

    /// Cancels the timer. If the timer is not set yet, ``AdmissionAlarms/keep(_:_:for:)`` returns false for this alarm
    /// later.
    func cancel() {
      if let token { timers.cancel(token) }
    }
  }

  /// The timers to cancel and to set after the lock is released.
  struct Order: Sendable {
    var cancels: Alarm?
    var sets: Alarm?
  }

  private var alarms: [Int: Alarm] = [:]
  private var last: UInt64 = 0

  /// Makes sure that the alarm of a host fires no later than `moment`. With nil it removes the alarm. Returns nil if no
  /// timer changes.
  mutating func tend(_ host: Int, _ moment: MonotonicInstant?, _ timers: any Timers) -> Order? {
    guard let moment else {
      return alarms.isEmpty ? nil : alarms.removeValue(forKey: host).map { Order(cancels: $0) }
    }
    if let present = alarms[host], present.moment <= moment { return nil }
    last &+= 1
    let alarm = Alarm(number: last, moment: moment, timers: timers)
    return Order(cancels: alarms.updateValue(alarm, forKey: host), sets: alarm)
  }

  /// Stores the token of a timer that was set. Returns false if the alarm has fired or has been replaced.
  mutating func keep(_ token: TimerToken, _ alarm: Alarm, for host: Int) -> Bool {
    guard alarms[host]?.number == alarm.number else { return false }
    alarms[host]?.token = token
    return true
  }

  /// Removes an alarm that fires. Returns false if the alarm has already been removed or replaced.
  mutating func take(_ alarm: Alarm, for host: Int) -> Bool {
    guard alarms[host]?.number == alarm.number else { return false }
    alarms[host] = nil
    return true
  }
}
