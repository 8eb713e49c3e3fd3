/** The place of a value in one list. A value may have places in several lists. */
export class ListPlace<T> {
  previous: ListPlace<T> | undefined;
  next: ListPlace<T> | undefined;

  constructor(readonly value: T) {}
}

/** A doubly linked list. The caller keeps the place of each value, so that the removal of a value needs no search. */
export class LinkedList<T> {
  first: ListPlace<T> | undefined;
  last: ListPlace<T> | undefined;

  append(place: ListPlace<T>): void {
    place.previous = this.last;
    if (this.last) this.last.next = place;
    else this.first = place;
    this.last = place;
  }

  /** The place must be in this list. */
  unlink(place: ListPlace<T>): void {
    if (place.previous) place.previous.next = place.next;
    else this.first = place.next;
    if (place.next) place.next.previous = place.previous;
    else this.last = place.previous;
    place.previous = undefined;
    place.next = undefined;
  }

  /** The current value may be removed during the iteration. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    let place = this.first;
    while (place) {
      const { next } = place;
      yield place.value;
      place = next;
    }
  }
}
