extension APIClient {
  /// Runs a chain, which is a group of calls that depend on each other, on the caller's executor. A step can use the
  /// values of earlier steps, and branches run concurrently.
  ///
  /// ```swift
  /// let done = try await client.chain { chain in
  ///   let account = try await chain.send(Register(name: "x"))
  ///   async let user = chain.send(GetUser(id: account.id))
  ///   async let avatar = chain.send(Avatar(name: account.avatar))
  ///   return try await chain.send(Welcome(user, avatar))
  /// }
  /// ```
  ///
  /// If the closure throws, the branches that still run are cancelled. Cancelling the task cancels the chain.
  /// Cancelling by owner or tag cancels the calls of the chain; the closure then throws the errors of these calls.
  /// - Throws: The error of the closure. An error of a step is an ``APIError`` whose ``APIError/members`` names the
  ///   step. If the chain was cancelled or its deadline passed, the method throws an ``APIError`` of stage `cancelled`
  ///   or `deadline`, even if the closure returns a value. If the closure's error type cannot represent this error, the
  ///   chain ends with the closure's own value or error.
  public func chain<Value, Failure>(
    options: GroupOptions = GroupOptions(), _ steps: (GroupScope) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await GroupRun(.chain, GroupRun.inlineName, options, self).inline(steps)
  }
}

extension GroupRun {
  /// The name of a chain that is written as a closure.
  static var inlineName: String { "chain" }

  func inline<Value, Failure>(
    _ steps: (GroupScope) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let (result, error) = await listening {
      let result = await runBody(steps)
      var thrown: APIError?
      if case .failure(let error) = result { thrown = mapping(error) }
      return (result, await settle(thrown))
    }
    let ending = finish(error: error) { $0 }
    // If the chain was stopped, the error of the stopped chain replaces the result of the closure, even if the closure
    // returned a value.
    if let error = ending.error, state.endsBy != nil, let error = error as? Failure { throw error }
    return try result.get()
  }
}
