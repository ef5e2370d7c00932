fn main() {
    let numbers: Vec<i64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    println!("{}", sums::sum(&numbers));
}
