# frozen_string_literal: true

# Adds the JSON formatter of rspec, with a file for each process.
require_relative 'check_report'
require 'rspec/core/formatters/json_formatter'

RSpec.configure do |config|
  path = CheckReport.path('rspec', 'json')
  File.write(path, '')
  config.add_formatter(RSpec::Core::Formatters::JsonFormatter, path)
  CheckReport.clear_environment
end
