import { readJunit, type JunitDialect } from '../readers/junit.ts'
import type { TestRunner } from '../form/test-runner.ts'

const dialect: JunitDialect = {
  file: ({ attributes }) => attributes['file'],
  name: ({ attributes }) => [(attributes['class'] ?? '').split('\\').at(-1) ?? '', attributes['name'] ?? ''],
}

export const phpunit: TestRunner = {
  name: 'phpunit',
  recorded: '9.6',
  pattern: /\b(phpunit|pest)\b|\bartisan test\b/,
  reporter: {
    // An empty entry stands for the folder that PHP reads by itself.
    environment: ({ folder }) => [
      { name: 'PHP_INI_SCAN_DIR', text: `${folder}/php`, separator: ':', keepSeparator: true },
    ],
    files: ({ folder }) => ({ 'php/report.ini': `auto_prepend_file="${folder}/php/prepend.php"\n` }),
  },
  readReport: (text, project) => readJunit(text, project, dialect),
}
