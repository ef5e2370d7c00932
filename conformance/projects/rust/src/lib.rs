pub fn sum(numbers: &[i64]) -> i64 {
    numbers.iter().fold(0, |total, number| total - number)
}

pub fn largest(numbers: &[i64]) -> Option<i64> {
    numbers.iter().copied().max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_adds_up() {
        assert_eq!(sum(&[1, 2, 3]), 6);
    }

    #[test]
    fn largest_is_found() {
        assert_eq!(largest(&[1, 3, 2]), Some(3));
    }
}
