extension LedgerTests {
  /// The expected output of the program.
  static let story = """
    Without a login
      the bookings: Log in first.
      GET api.ledger.example/bookings: no token, no branch
      ada, with a wrong password: Name and password do not fit.

    Ada logs in
      GET api.ledger.example/bookings: token of ada, branch north
      GET reports.ledger.example/rates: token of ada, branch north
      GET img.cdn.ledger.example/receipts/rent-1.png: no token, branch north

    The books
      booked as number 3: Paper & ink, -12.45 EUR
      sent: 16 bytes
      1. Rent of the workshop, -950.00 EUR
      2. Table for Ms. Öberg, 2154.50 EUR
      3. Paper & ink, -12.45 EUR
      balance: 1192.05 EUR

    Failures
      a booking of zero: A parameter is wrong: the amount must not be zero.
      a busy server: The server answered 503 Service Unavailable; expected 200–299.
      a truncated message: The response could not be decoded as protobuf: the message is truncated.
      an HTML page instead: The response has the content type "text/html"; expected application/x-protobuf.
      a message without a model: The response could not be converted by the reformer \
    Reform<BookingMessage, Booking>: a booking has no number.

    A response type for each request
      text: March: 2 bookings, balance 1204.50
      JSON: SEK 1130, USD 108
      bytes: 4 of a picture

    A year's cache for the CDN, none elsewhere
      table-2: network
      table-2: cache-fresh
      rent-1: cache-fresh
      requests to the CDN: 1
      requests for the bookings, read twice: 2

    Other defaults on the shared client
      month 13, by the default: The call did not end within its total time-out of 0.1 seconds; raise \
    `timeouts.total` to wait longer.
      the year, by its own time-out: 3 bookings
      rates with an envelope: The response could not be decoded as JSON: $.rates: expected an integer, found an object, \
    in {"rates":{"SEK":1131}}.
      after setting the envelope: SEK 1131
      messages and texts as before: 3 bookings
      rates as a property list: SEK 1132
      Accept: application/x-plist
      messages and texts as before: 3 bookings
      rates as JSON again: SEK 1131

    Ada logs out while a booking is loading
      POST api.ledger.example/logout: token of ada, branch north
      the booking: The call was cancelled, because its account was logged out; log in and start the call again.
      the bookings: Log in first.
      GET api.ledger.example/bookings: no token, no branch
      her receipt left the cache, and is requested again: yes

    """
}
