extension APIClient {
  /// Runs a chain where the caller is: steps made from the answers before them, branches side by side.
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
  /// Leaving the closure by an error cancels the branches that still run. Cancelling the task cancels the chain; a
  /// cancel by owner or tag cancels its calls, whose errors then leave the closure.
  /// - Throws: What the closure throws: ``APIError`` from steps, with ``APIError/members`` to say which. Where the chain
  ///   was cancelled or its deadline passed, an ``APIError`` that says so, whatever the closure returns, unless the
  ///   closure's type of error does not allow it.
  public func chain<Value, Failure>(
    options: GroupOptions = GroupOptions(), _ steps: (GroupScope) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await GroupRun(.chain, inlineName, options, self).inline(steps)
  }
}

extension GroupScope {
  /// Runs a chain as a member of this group.
  /// - Throws: What the closure throws.
  public func chain<Value, Failure>(
    options: GroupOptions = GroupOptions(), _ steps: (GroupScope) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let inner = GroupRun(.chain, inlineName, options, run.client, parent: run)
    let place = run.begin(inner)
    do throws(Failure) {
      let value = try await inner.inline(steps)
      run.end(place, .done, inner.report)
      return value
    } catch {
      let known = inner.mapping(error)
      run.end(place, .failed(known), inner.report)
      guard error is APIError, let placed = run.placed(known, place, MemberName(inner.info)) as? Failure else {
        throw error
      }
      throw placed
    }
  }
}

/// What a chain of one closure is called.
private let inlineName = "chain"

extension GroupRun {
  fileprivate func inline<Value, Failure>(
    _ steps: (GroupScope) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let (came, error) = await listening {
      let came = await live(steps)
      var thrown: APIError?
      if case .failure(let error) = came { thrown = mapping(error) }
      return (came, await settle(thrown))
    }
    let ending = finish(error) { $0 }
    // A stop turns what came, also a value.
    if let error = ending.error, state.endsBy != nil, let error = error as? Failure { throw error }
    return try came.get()
  }
}
