# Arithmetic on whole cents; rounds half up, away from zero.
module MoneyMath
  module_function

  def add_percent(cents, percent)
    cents + (cents * percent).to_r.quo(100).round
  end

  def round_to(cents, step)
    cents.to_r.quo(step).round * step
  end

  def format(cents, currency)
    Kernel.format("%<currency>s %<units>d.%<rest>02d", currency: currency, units: cents / 100, rest: cents % 100)
  end
end
