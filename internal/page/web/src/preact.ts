// What the page uses of Preact, in one place.
export { h, render, Fragment } from 'preact'
export { useState, useEffect, useMemo, useRef, useCallback, useLayoutEffect } from 'preact/hooks'
