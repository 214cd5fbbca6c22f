/// A transport that lends its own thread to tasks, so that they go on where answers arrive.
package protocol ThreadLending: Transport {
  /// The executor of that thread.
  var executor: any TaskExecutor { get }
}
