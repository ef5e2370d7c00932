# frozen_string_literal: true

# Minitest loads every minitest/*_plugin.rb of the load path, where RUBYLIB puts this.
require_relative '../check_report'

module Minitest
  class CheckReportFile < AbstractReporter
    def start
      @path = CheckReport.path('minitest', 'jsonl')
      @count = 0
      append(start: 'minitest', cwd: Dir.pwd)
      CheckReport.clear_environment
    end

    def record(result)
      @count += 1
      file, = result.source_location
      append(test: [result.klass, result.name], file: file, status: status(result), message: result.failure&.message)
    end

    def report
      append(end: @count)
    end

    private

    def status(result)
      return 'skipped' if result.skipped?

      result.passed? ? 'passed' : 'failed'
    end

    def append(line)
      File.open(@path, 'a') { |file| file.puts(JSON.generate(line)) }
    end
  end

  def self.plugin_check_report_init(_options)
    reporter << CheckReportFile.new
  end
end
