// Shows a message if the page's script fails, as in an old browser. A separate script in old
// JavaScript, so that it runs even if the other cannot be parsed.

window.onerror = function (message) {
  var told = document.getElementById('broken');
  told.hidden = false;
  told.textContent =
    'This page is not whole: its script failed in this browser (' +
    message +
    '). It needs Firefox 104, Chrome or Edge 97, Safari 15.4, or newer ones.';
};
