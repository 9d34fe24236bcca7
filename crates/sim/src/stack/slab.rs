//! Numbered places that are used again: what an array has under way, without an allocation per command.

/// Values under numbers that stay the same while the value is there.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
    /// The number of the first place: what had a smaller one was forgotten.
    base: u32,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new(), base: 0 }
    }
}

impl<T> Slab<T> {
    /// Keeps a value; returns its number.
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.places[(number - self.base) as usize] = Some(value);
            return number;
        }
        self.places.push(Some(value));
        self.base + (self.places.len() - 1) as u32
    }

    /// Takes the value under a number away.
    #[inline]
    pub(crate) fn remove(&mut self, number: u32) -> T {
        self.take(number).expect("what is removed is there")
    }

    /// The value under a number is not needed any more.
    #[inline]
    pub(crate) fn free(&mut self, number: u32) {
        self.places[(number - self.base) as usize] = None;
        self.free.push(number);
    }

    /// What [`Slab::remove`] does, unless it was forgotten.
    #[inline]
    pub(crate) fn take(&mut self, number: u32) -> Option<T> {
        let place = number.checked_sub(self.base)?;
        self.free.push(number);
        self.places[place as usize].take()
    }

    /// The value under a number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &T {
        self.places[(number - self.base) as usize].as_ref().expect("what is asked for is there")
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> &mut T {
        self.places[(number - self.base) as usize].as_mut().expect("what is asked for is there")
    }

    /// Numbers and values, in the order of the numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.places.iter().zip(self.base..).filter_map(|(value, number)| Some((number, value.as_ref()?)))
    }

    /// Forgets everything; its numbers are not used again.
    pub(crate) fn clear(&mut self) {
        self.base += self.places.len() as u32;
        self.places.clear();
        self.free.clear();
    }
}
