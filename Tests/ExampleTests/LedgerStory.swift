extension LedgerTests {
  /// What the program writes.
  static let story = """
    Nobody is logged in
      the bookings: Log in first.
      GET api.ledger.example/bookings: no token, no branch
      ada, with a wrong password: Name and password do not fit.

    Ada logs in
      GET api.ledger.example/bookings: token of ada, branch north
      GET reports.ledger.example/rates: token of ada, branch north
      GET img.cdn.ledger.example/receipts/rent-1.png: no token, branch north

    The books
      booked as number 3: Paper & ink, -12.45 EUR
      on the wire: 16 bytes
      1. Rent of the workshop, -950.00 EUR
      2. Table for Ms. Öberg, 2154.50 EUR
      3. Paper & ink, -12.45 EUR
      balance: 1192.05 EUR

    A bad day
      a booking of nothing: A parameter is wrong: a booking moves money.
      a busy server: The server answered 503 Service Unavailable; expected 200–299.
      a cut message: The answer could not be read as protobuf: the message is cut short.
      a page in its place: The answer has the content type "text/html"; expected application/x-protobuf.
      a message without a model: The answer could not be reformed by Reform<BookingMessage, Booking>: a booking \
    has no number.

    A response type for each request
      text: March: 2 bookings, balance 1204.50
      JSON: SEK 1130, USD 108
      bytes: 4 of a picture

    A year for the CDN, nothing elsewhere
      table-2: network
      table-2: cache-fresh
      rent-1: cache-fresh
      asked of the CDN: 1
      asked for the bookings, read twice: 2

    Other defaults on the shared client
      month 13, by the default: The call did not end within its total time-out of 0.1 seconds; raise \
    `timeouts.total` to wait longer.
      the year, by its own time-out: 3 bookings
      rates of the new form: The answer could not be read as JSON: $.rates: expected an integer, found an object, \
    in {"rates":{"SEK":1131}}.
      rates in their envelope: SEK 1131
      messages and texts as before: 3 bookings
      rates as a property list: SEK 1132
      asked for: application/x-plist
      messages and texts as before: 3 bookings
      rates as JSON again: SEK 1131

    Ada logs out while a booking is on its way
      POST api.ledger.example/logout: token of ada, branch north
      the booking: The call was cancelled, since its account was logged out; log in and send it again.
      the bookings: Log in first.
      GET api.ledger.example/bookings: no token, no branch
      her receipt went with her, and is asked for again: yes

    """
}
