# frozen_string_literal: true

# What the reporters for Ruby share: the place of a report, and an environment without the reporters.
require 'json'

module CheckReport
  REPORTERS = File.expand_path('..', __dir__)

  def self.path(runner, kind)
    File.join(REPORTERS, '..', 'reports', "#{runner}-#{Process.pid}.#{kind}")
  end

  # Programs that tests start report nothing: their tests are data of the project.
  def self.clear_environment
    JSON.parse(File.read(File.join(REPORTERS, 'environment.json'))).each do |name, text|
      next unless ENV[name]&.include?(text)

      rest = ENV[name].sub(text, '').strip
      ENV[name] = rest.empty? ? nil : rest
    end
  end
end
