/** The key that makes commands of letters: as it is written on this keyboard. */
export const commandKey = /mac|iphone|ipad/i.test(navigator.platform) ? '⌘' : 'Ctrl '
