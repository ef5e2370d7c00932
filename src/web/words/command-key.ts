/** The modifier key for shortcuts, as labelled on this keyboard. */
export const commandKey = /mac|iphone|ipad/i.test(navigator.platform) ? '⌘' : 'Ctrl '
