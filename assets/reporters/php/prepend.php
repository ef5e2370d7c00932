<?php

// PHP loads this before every program of a check (PHP_INI_SCAN_DIR). It acts only where the program is PHPUnit or Pest.
(static function (): void {
    $arguments = $_SERVER['argv'] ?? [];
    if (!preg_match('/^(phpunit|pest)(-?[0-9.]*)?(\.phar)?$/', basename($arguments[0] ?? ''))) {
        return;
    }
    if (in_array('--log-junit', $arguments, true)) {
        return;
    }
    $report = dirname(__DIR__, 2) . '/reports/phpunit-' . getmypid() . '.xml';
    touch($report);
    array_splice($arguments, 1, 0, ['--log-junit', $report]);
    $_SERVER['argv'] = $GLOBALS['argv'] = $arguments;
    $_SERVER['argc'] = $GLOBALS['argc'] = count($arguments);
    foreach (json_decode(file_get_contents(dirname(__DIR__) . '/environment.json'), true) as $name => $text) {
        $value = getenv($name);
        if ($value === false || !str_contains($value, $text)) {
            continue;
        }
        $rest = trim(str_replace($text, '', $value));
        putenv($rest === '' ? $name : "$name=$rest");
    }
})();
