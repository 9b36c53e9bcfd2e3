/// Keeps a large value behind one reference: handing it on costs one count instead of one for each of its parts.
///
/// A value like any other: it is replaced as a whole when it changes, and compared by what is in it.
@propertyWrapper
package struct Boxed<Value: Hashable & Sendable>: Hashable, Sendable {
    private final class Storage: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private var storage: Storage

    package init(wrappedValue: Value) { storage = Storage(wrappedValue) }

    package var wrappedValue: Value {
        // Lends the value: a part of it can be read without copying the rest.
        _read { yield storage.value }
        set { storage = Storage(newValue) }
    }

    /// The box, to be handed on as it is.
    package var projectedValue: Boxed { self }

    package static func == (left: Boxed, right: Boxed) -> Bool {
        left.storage === right.storage || left.storage.value == right.storage.value
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(storage.value) }
}
