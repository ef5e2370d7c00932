#[test]
fn sum_of_two() {
    assert_eq!(sums::sum(&[4, 5]), 9);
}

#[test]
fn sum_of_none() {
    assert_eq!(sums::sum(&[]), 0);
}
