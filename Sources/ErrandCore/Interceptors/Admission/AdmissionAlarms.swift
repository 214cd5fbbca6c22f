/// The timers of an admission queue, at most one for each host. A timer fires when the rate limit of its host has a new
/// token, and the queue then admits a waiting call. This type only decides which timers are needed. The caller
/// schedules and cancels the timers.
struct AdmissionAlarms: Sendable {
  /// The timer of one host. The timer is scheduled already, or the caller is about to schedule it.
  struct Alarm: Sendable {
    fileprivate let number: UInt64
    let moment: MonotonicInstant
    let timers: any Timers
    /// Identifies the scheduled timer, so that the timer can be cancelled; nil until the timer is scheduled.
    fileprivate(set) var token: TimerToken?

    /// Cancels the timer if it is scheduled already. Otherwise another thread is about to schedule the timer. That
    /// thread cancels the timer itself, because ``AdmissionAlarms/keep(_:_:for:)`` returns false for this alarm.
    func cancel() {
      if let token { timers.cancel(token) }
    }
  }

  /// The timer that the caller must cancel, and the timer that the caller must schedule. The caller does both after it
  /// has released its lock.
  struct Order: Sendable {
    var cancels: Alarm?
    var sets: Alarm?
  }

  private var alarms: [Int: Alarm] = [:]
  private var last: UInt64 = 0

  /// Makes sure that the alarm of a host fires no later than `moment`. If `moment` is nil, removes the alarm. Returns
  /// the timers that the caller must change; nil if no timer changes.
  mutating func update(_ host: Int, _ moment: MonotonicInstant?, _ timers: any Timers) -> Order? {
    guard let moment else {
      return alarms.isEmpty ? nil : alarms.removeValue(forKey: host).map { Order(cancels: $0) }
    }
    if let present = alarms[host], present.moment <= moment { return nil }
    last &+= 1
    let alarm = Alarm(number: last, moment: moment, timers: timers)
    return Order(cancels: alarms.updateValue(alarm, forKey: host), sets: alarm)
  }

  /// Stores the token of a timer that was scheduled. Returns false if the alarm has already fired, or was removed or
  /// replaced.
  mutating func keep(_ token: TimerToken, _ alarm: Alarm, for host: Int) -> Bool {
    guard alarms[host]?.number == alarm.number else { return false }
    alarms[host]?.token = token
    return true
  }

  /// Removes an alarm whose timer has fired. Returns false if the alarm was already removed or replaced.
  mutating func take(_ alarm: Alarm, for host: Int) -> Bool {
    guard alarms[host]?.number == alarm.number else { return false }
    alarms[host] = nil
    return true
  }
}
