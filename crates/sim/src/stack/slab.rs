//! Slab: numbered values without an allocation per command.

/// Values under stable numbers.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
    /// Number of the first place; values with smaller numbers were forgotten.
    base: u32,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new(), base: 0 }
    }
}

impl<T> Slab<T> {
    /// Insert a value; return its number.
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.places[(number - self.base) as usize] = Some(value);
            return number;
        }
        self.places.push(Some(value));
        self.base + (self.places.len() - 1) as u32
    }

    /// Remove a value.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub(crate) fn remove(&mut self, number: u32) -> T {
        self.take(number).expect("what is removed is there")
    }

    /// Drop a value.
    #[inline]
    pub(crate) fn free(&mut self, number: u32) {
        self.places[(number - self.base) as usize] = None;
        self.free.push(number);
    }

    /// Remove a value; `None` if it was forgotten.
    #[inline]
    pub(crate) fn take(&mut self, number: u32) -> Option<T> {
        let place = number.checked_sub(self.base)?;
        self.free.push(number);
        self.places[place as usize].take()
    }

    /// Return a value.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &T {
        self.places[(number - self.base) as usize].as_ref().expect("what is asked for is there")
    }

    /// Return a value, mutable.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> &mut T {
        self.places[(number - self.base) as usize].as_mut().expect("what is asked for is there")
    }

    /// Return numbers and values, in the order of the numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.places.iter().zip(self.base..).filter_map(|(value, number)| Some((number, value.as_ref()?)))
    }

    /// Forget all values; their numbers are not used again.
    pub(crate) fn clear(&mut self) {
        self.base += self.places.len() as u32;
        self.places.clear();
        self.free.clear();
    }
}
